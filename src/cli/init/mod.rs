//! `postrider init`: from an empty folder to a gateway that can send itself a message.

pub(in crate::cli) mod keys;
mod plan;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;

use super::exit;
use super::failure::Failure;
use super::output::tell;
use plan::{Identity, Plan};

/// Writes postrider.toml, keys, an admin token and example P-Modes into a folder. It overwrites nothing.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider init --party blue --yes\n  postrider init /etc/postrider --party blue --id 0204:991-1 --host as4.example.org"
)]
pub struct InitArgs {
    /// The folder.
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Name of our party: letters, digits, `-` and `_`.
    #[arg(long, value_name = "NAME", value_parser = party_name)]
    pub party: Option<String>,
    /// The party id that partners know; without it the name.
    #[arg(long, value_name = "ID", value_parser = plain_text)]
    pub id: Option<String>,
    /// Type of the party id.
    #[arg(long = "type", value_name = "URI", value_parser = plain_text, default_value = plan::UNREGISTERED)]
    pub kind: String,
    /// Right-hand side of message ids: a domain name of yours.
    #[arg(long, value_name = "NAME", value_parser = plain_text)]
    pub host: Option<String>,
    /// Asks nothing.
    #[arg(long)]
    pub yes: bool,
}

pub(super) fn run(args: &InitArgs) -> Result<(), Failure> {
    let party = match &args.party {
        Some(party) => party.clone(),
        None if args.yes || !std::io::stdin().is_terminal() => "blue".to_owned(),
        None => ask("Name of your party", "blue")?,
    };
    let identity = Identity {
        id: args.id.clone().unwrap_or_else(|| party.clone()),
        kind: args.kind.clone(),
        host: args.host.clone().unwrap_or_else(|| "localhost".to_owned()),
        party,
    };
    let plan = Plan::new(&args.dir, &identity);
    let taken = plan.taken();
    if !taken.is_empty() {
        let failure = Failure::new(exit::CONFLICT, "nothing was written, for these files are there already");
        let failure = taken.iter().fold(failure, |failure, path| failure.detail(path.display().to_string()));
        return Err(failure.next("postrider init DIR, with another folder"));
    }
    for path in plan.write()? {
        tell("", &format!("wrote {}", path.strip_prefix(".").unwrap_or(path).display()));
    }
    tell("", &next_steps(args));
    Ok(())
}

fn next_steps(args: &InitArgs) -> String {
    let place = if args.dir.as_os_str() == "." { String::new() } else { format!("cd {} && ", args.dir.display()) };
    format!(
        "\nNext:\n  {place}postrider check\n  postrider serve\n  postrider submit postrider.toml --pmode self-test --wait delivered    in another terminal\n\
         Then agree with a partner on a P-Mode: pmodes/partner.xml.sample."
    )
}

fn ask(question: &str, default: &str) -> Result<String, Failure> {
    loop {
        let mut words = std::io::stderr();
        write!(words, "{question} [{default}]: ")?;
        words.flush()?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(default.to_owned());
        }
        match party_name(line.trim()) {
            Ok(name) => return Ok(name),
            Err(wrong) => tell("error", &wrong),
        }
    }
}

/// The name stands in file names, P-Modes and commands.
fn party_name(text: &str) -> Result<String, String> {
    let fits = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if fits { Ok(text.to_owned()) } else { Err("use letters, digits, `-` and `_`".to_owned()) }
}

fn plain_text(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && text.trim() == text && !text.chars().any(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("use a text without line ends or blanks around it".to_owned()) }
}

#[cfg(test)]
mod tests;
