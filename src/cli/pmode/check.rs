//! `postrider pmode check`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{FOLDER, PModesArgs, remedy};
use crate::cli::arguments::Global;
use crate::cli::check::FINDING_COLUMNS;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::output::tell;
use crate::gateway::{AgreementsError, load_pmode_files, load_pmodes};
use crate::pmode::{PModeError, PModeSet, Place};

/// Finds what is wrong with P-Mode files.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider pmode check\n  postrider pmode check pmodes/red.xml --deny-warnings")]
pub struct CheckArgs {
    /// Files or folders; without any the folder that the configuration names.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Warnings count as errors.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Where the P-Modes are.
    #[command(flatten)]
    pub pmodes: PModesArgs,
}

pub(super) fn run(global: &Global, args: &CheckArgs) -> Result<(), Failure> {
    let now = OffsetDateTime::now_utc();
    let (mut rows, mut count) = (Vec::new(), 0);
    if args.files.is_empty() {
        folder(&args.pmodes.dir(global)?, now, &mut rows, &mut count);
    }
    let mut files = Vec::new();
    for path in &args.files {
        if path.is_dir() {
            folder(path, now, &mut rows, &mut count);
        } else {
            // A name that leads nowhere is a slip of the command line, not a fault of a P-Mode.
            std::fs::metadata(path)
                .map_err(|e| Failure::file("read", path, &e).next("name a P-Mode file, or a folder of them"))?;
            files.push(path.clone());
        }
    }
    if !files.is_empty() {
        match load_pmode_files(&files, now) {
            Ok(set) => found(&set, &mut rows, &mut count),
            Err(errors) => rows.extend(errors.iter().map(fault)),
        }
    }
    report(global, args, &rows, count)
}

fn folder(dir: &Path, now: OffsetDateTime, rows: &mut Vec<Value>, count: &mut usize) {
    match load_pmodes(dir, now) {
        Ok(set) => found(&set, rows, count),
        Err(AgreementsError::PModes(errors)) => {
            rows.extend(errors.iter().map(fault));
        }
        Err(error @ AgreementsError::Folder { .. }) => rows.push(row("error", None, &error.to_string(), Some(FOLDER))),
    }
}

fn found(set: &PModeSet, rows: &mut Vec<Value>, count: &mut usize) {
    *count += set.len();
    rows.extend(set.warnings().iter().map(|w| row("warning", Some(&w.place), &w.text, None)));
}

fn fault(error: &PModeError) -> Value {
    row("error", Some(&error.place), &error.problem.to_string(), Some(remedy(&error.problem)))
}

fn row(severity: &str, place: Option<&Place>, message: &str, next: Option<&str>) -> Value {
    let at = place.map(ToString::to_string);
    json!({ "id": at, "severity": severity, "place": at, "message": message, "next": next })
}

fn report(global: &Global, args: &CheckArgs, rows: &[Value], count: usize) -> Result<(), Failure> {
    let of = |severity: &str| rows.iter().filter(|row| row["severity"] == severity).count();
    let (errors, warnings) = (of("error"), of("warning"));
    let mut output = global.output();
    if output.for_people() {
        for row in rows {
            let place = row["place"].as_str().map(|place| format!("{place}: ")).unwrap_or_default();
            let next = row["next"].as_str().map(|next| format!("\n   next: {next}")).unwrap_or_default();
            tell(
                row["severity"].as_str().unwrap_or_default(),
                &format!("{place}{}{next}", row["message"].as_str().unwrap_or_default()),
            );
        }
    } else {
        output.list("postrider.findings/1", "findings", rows, &FINDING_COLUMNS)?;
    }
    let loaded = if errors > 0 {
        "none is loaded".to_owned()
    } else {
        format!("{} good", number(count, "P-Mode is", "P-Modes are"))
    };
    let found = format!("{}, {}", number(errors, "error", "errors"), number(warnings, "warning", "warnings"));
    tell("", &format!("{found}: {loaded}"));
    let bad = errors > 0 || (args.deny_warnings && warnings > 0);
    if bad { Err(Failure::silent(exit::CONFIG)) } else { Ok(()) }
}

fn number(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
