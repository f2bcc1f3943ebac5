//! The acts.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::documents::{CII, Document, EDIFACT, UBL, X12};
use super::screen::{Screen, Tone};
use super::site::{Keys, Site};
use super::verdict;
use super::wire::{Fault, Wire};
use crate::cli::exit;
use crate::cli::failure::Failure;

/// How long one message may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// A message that was submitted: who must have it, and what.
struct Sent {
    id: String,
    document: Document,
    to_red: bool,
}

struct Story {
    screen: Screen,
    blue: Site,
    red: Site,
    wire: Wire,
    sent: Vec<Sent>,
    duplicates: usize,
    rejected: usize,
    holds: bool,
}

/// Everything from the first key to the verdict.
pub(super) async fn tell(keep: bool) -> Result<(), Failure> {
    let begun = Instant::now();
    let screen = Screen::new();
    let root = tempfile::Builder::new()
        .prefix("postrider-demo-")
        .tempdir()
        .map_err(|e| Failure::new(exit::BUG, format!("no temporary folder: {e}")))?;
    screen.line(
        &screen.tone(
            Tone::Bold,
            "Two AS4 gateways, blue and red, on this machine: throw-away keys, SQLite, real sockets.",
        ),
    );
    let mut names = ["blue", "red", "impostor"].map(|name| std::thread::spawn(move || Keys::draw(name))).into_iter();
    let mut drawn = || match names.next().map(std::thread::JoinHandle::join) {
        Some(Ok(keys)) => keys,
        _ => Err(Failure::new(exit::BUG, "keys cannot be drawn")),
    };
    let (blue_keys, red_keys, impostor_keys) = (drawn()?, drawn()?, drawn()?);
    let mut blue = Site::build(root.path(), "blue", "blue", &blue_keys)?;
    let mut red = Site::build(root.path(), "red", "red", &red_keys)?;
    let wire = Wire::to(red.msh).await.map_err(|e| Failure::new(exit::BUG, e.to_string()))?;
    for site in [&blue, &red] {
        site.agree(("blue", &blue_keys), ("red", &red_keys), wire.address())?;
        site.agree(("red", &red_keys), ("blue", &blue_keys), blue.msh)?;
    }
    blue.start().await?;
    red.start().await?;
    let mut story = Story { screen, blue, red, wire, sent: Vec::new(), duplicates: 0, rejected: 0, holds: true };
    story.documents().await?;
    story.lost_receipt().await?;
    story.two_copies().await?;
    story.killed().await?;
    story.wrong_key(root.path(), &impostor_keys, &red_keys).await?;
    let held = story.verdict(begun);
    if keep {
        story.keep(root.path()).await;
    }
    if held { Ok(()) } else { Err(Failure::new(exit::NO, "the promise did not hold")) }
}

impl Story {
    async fn documents(&mut self) -> Result<(), Failure> {
        self.screen.act(
            1,
            "Four documents",
            "Signed, encrypted, compressed; each answered by a signed receipt whose digests are compared.",
        );
        for (to_red, document) in [(true, UBL), (false, CII), (true, EDIFACT), (false, X12)] {
            let id = self.submit(to_red, document).await?;
            self.follow(&id, to_red, "delivered").await?;
        }
        Ok(())
    }

    async fn lost_receipt(&mut self) -> Result<(), Failure> {
        self.screen.act(
            2,
            "The receipt is lost",
            "Red has the message, blue does not know. Blue must ask again; red must not act again.",
        );
        self.wire.next(Fault::LoseAnswer);
        let id = self.submit(true, UBL).await?;
        self.follow(&id, true, "delivered").await?;
        let seen = self.wire.seen(&id);
        self.check(seen.len() >= 2, &format!("{} attempts on the wire, all with the id {id}", seen.len()));
        self.check(
            seen.windows(2).all(|w| w[0].signature == w[1].signature),
            "every attempt carries the same signature",
        );
        let same = seen.len() >= 2 && seen.windows(2).all(|w| w[0].answer.is_some() && w[0].answer == w[1].answer);
        self.check(same, "the receipt was the same, octet for octet");
        self.once(&id, true);
        Ok(())
    }

    async fn two_copies(&mut self) -> Result<(), Failure> {
        self.screen.act(
            3,
            "Two copies at the same instant",
            "A router, a proxy or a hasty partner sends twice: both race to one primary key.",
        );
        self.wire.next(Fault::Twice);
        let id = self.submit(true, EDIFACT).await?;
        self.follow(&id, true, "delivered").await?;
        let seen = self.wire.seen(&id);
        let same = seen.len() == 2 && seen[0].answer.is_some() && seen[0].answer == seen[1].answer;
        self.check(same, "both copies were answered with one and the same receipt");
        self.once(&id, true);
        Ok(())
    }

    async fn killed(&mut self) -> Result<(), Failure> {
        self.screen.act(
            4,
            "The receiver is killed in the middle",
            "SIGKILL while red works on the message: no clean-up, no goodbye.",
        );
        let (tell, told) = oneshot::channel();
        self.wire.next(Fault::TellAndLose(tell));
        let id = self.submit(true, X12).await?;
        if tokio::time::timeout(PATIENCE, told).await.is_err() {
            return Err(self.blue.explain(Failure::new(exit::NO, "blue did not send")));
        }
        self.red.kill();
        self.screen.line(&format!("   {}", self.screen.tone(Tone::Bad, "red was killed (SIGKILL)")));
        tokio::time::sleep(Duration::from_millis(300)).await;
        self.red.start().await?;
        self.screen.line("   red was started again");
        self.follow(&id, true, "delivered").await?;
        self.once(&id, true);
        Ok(())
    }

    async fn wrong_key(&mut self, root: &std::path::Path, own: &Keys, red: &Keys) -> Result<(), Failure> {
        self.screen.act(
            5,
            "A wrong key",
            "Someone says to be blue, with a key of their own: nothing may happen at red, and red says why.",
        );
        let mut impostor = Site::build(root, "impostor", "blue", own)?;
        impostor.agree(("blue", own), ("red", red), self.red.msh)?;
        impostor.start().await?;
        let id = impostor.submit("blue-to-red", &UBL, "impostor-1").await?;
        let begun = Instant::now();
        let state = loop {
            let message = impostor.message(&id).await;
            let state = message["state"].as_str().unwrap_or_default().to_owned();
            if state == "failed" || begun.elapsed() > PATIENCE {
                let told = message["error"].as_str().unwrap_or("nothing").to_owned();
                self.screen.line(&format!("   the impostor is told: {told}"));
                break state;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let refused = self.red.rejected().await;
        let reason = refused.iter().find(|r| r["message_id"] == id.as_str());
        if let Some(reason) = reason {
            self.screen.line(&format!("   red knows: {}", reason["reason"].as_str().unwrap_or_default()));
        }
        self.rejected = refused.len();
        let reason = reason.is_some();
        self.check(state == "failed" && reason, "rejected, with the reason");
        let delivered = verdict::deliveries(&self.red.dir.join("in")).contains_key(&id);
        self.check(!delivered, "nothing was delivered");
        Ok(())
    }

    async fn submit(&mut self, to_red: bool, document: Document) -> Result<String, Failure> {
        let (from, pmode) = if to_red { (&self.blue, "blue-to-red") } else { (&self.red, "red-to-blue") };
        let id = from.submit(pmode, &document, &format!("demo-{}", self.sent.len() + 1)).await?;
        self.screen.line(&format!("   {} from {}, message {id}", document.title, from.name));
        self.sent.push(Sent { id: id.clone(), document, to_red });
        Ok(id)
    }

    /// Shows both timelines of a message as they grow, until both sides are done.
    async fn follow(&mut self, id: &str, to_red: bool, wanted: &str) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut shown = [0, 0];
        loop {
            let (from, to) = if to_red { (&self.blue, &self.red) } else { (&self.red, &self.blue) };
            let done = from.message(id).await["state"] == wanted && to.message(id).await["state"] == "delivered";
            let mut fresh = Vec::new();
            for (at, site) in [from, to].into_iter().enumerate() {
                let events = site.timeline(id).await;
                fresh.extend(events.iter().skip(shown[at]).map(|event| (event.clone(), site.name)));
                shown[at] = shown[at].max(events.len());
            }
            fresh.sort_by(|a, b| a.0["at"].as_str().cmp(&b.0["at"].as_str()));
            for (event, who) in fresh {
                let text = event["text"].as_str().unwrap_or_default();
                self.duplicates += usize::from(event["code"] == "receive.duplicate");
                self.screen.event(event["at"].as_str().unwrap_or_default(), who, text);
            }
            if done {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let failure = Failure::new(exit::NO, format!("{id} is not {wanted} after {PATIENCE:?}"));
                return Err(self.red.explain(self.blue.explain(failure)));
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    fn check(&mut self, holds: bool, text: &str) {
        self.holds &= holds;
        self.screen.fact(holds, text);
    }

    fn once(&mut self, id: &str, to_red: bool) {
        let site = if to_red { &self.red } else { &self.blue };
        let count = verdict::deliveries(&site.dir.join("in")).get(id).map_or(0, Vec::len);
        self.check(
            count == 1,
            &format!("delivered {}", if count == 1 { "once".to_owned() } else { format!("{count} times") }),
        );
    }

    /// The table and the last line, by what lies in the consumers' folders.
    fn verdict(&self, begun: Instant) -> bool {
        let at = [verdict::deliveries(&self.blue.dir.join("in")), verdict::deliveries(&self.red.dir.join("in"))];
        let mut whole = 0;
        for sent in &self.sent {
            let folders = at[usize::from(sent.to_red)].get(&sent.id).map_or(&[][..], Vec::as_slice);
            whole += usize::from(folders.len() == 1 && verdict::holds(&folders[0], &sent.document));
        }
        let delivered: usize = at.iter().flat_map(|d| d.values()).map(Vec::len).sum();
        let held = self.holds && whole == self.sent.len() && delivered == whole;
        let screen = self.screen;
        screen.line("");
        screen.line(&screen.tone(Tone::Bold, "   submitted   delivered   duplicates eliminated   rejected"));
        screen.line(&format!(
            "   {:>9}   {delivered:>9}   {:>21}   {:>8}",
            self.sent.len() + 1,
            self.duplicates,
            self.rejected
        ));
        screen.line("");
        let seconds = begun.elapsed().as_secs_f64();
        let line = if held {
            screen.tone(Tone::Good, &format!("The promise held: {whole} documents, {whole} effects, octet for octet; 1 forgery, no effect ({seconds:.1} s)."))
        } else {
            screen.tone(Tone::Bad, &format!("The promise did NOT hold: {} documents, {whole} delivered whole and once, {delivered} deliveries ({seconds:.1} s).", self.sent.len()))
        };
        screen.line(&line);
        held
    }

    /// Leaves both running until Ctrl-C.
    async fn keep(&self, root: &std::path::Path) {
        self.screen.line("");
        for site in [&self.blue, &self.red] {
            self.screen.line(&format!(
                "{}: API http://{}, AS4 http://{}/as4, folder {}",
                site.name,
                site.admin,
                site.msh,
                site.dir.display()
            ));
        }
        let config = root.join("blue/postrider.toml");
        self.screen.line(&format!("try:  postrider message list --config {}", config.display()));
        self.screen.line("Ctrl-C ends both.");
        std::future::pending::<()>().await;
    }
}
