//! Migrations go up, down and up again, under the same names on both databases.

use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use postrider::store::{Status, Tx};

use crate::fixture::{Fixture, at, both};

both!(the_tables_go_and_come_again, migrating_twice_does_nothing);

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

fn tables(f: &Fixture) -> Vec<String> {
    let names: Vec<Name> = f.read(|tx| {
        Ok(match tx {
            Tx::Sqlite(c) => {
                diesel::sql_query("SELECT name FROM sqlite_master WHERE type IN ('table', 'index', 'trigger')")
                    .load(*c)?
            }
            Tx::Postgres(c) => diesel::sql_query(
                "SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace",
            )
            .load(*c)?,
        })
    });
    let ours = names.into_iter().map(|n| n.name).filter(|n| !n.contains("__diesel") && !n.starts_with("sqlite_"));
    let mut ours: Vec<_> = ours.collect();
    ours.sort();
    ours
}

fn the_tables_go_and_come_again(f: &Fixture) {
    let before = tables(f);
    assert!(before.contains(&"inbox".to_owned()), "{before:?}");
    if f.store.is_sqlite() {
        let path = f.options.url.strip_prefix("sqlite:").expect("a path");
        let mut c = diesel::SqliteConnection::establish(path).expect("a connection");
        c.revert_all_migrations(SQLITE).expect("down");
        assert_eq!(tables(f), Vec::<String>::new());
    } else {
        let mut c = diesel::PgConnection::establish(&f.options.url).expect("a connection");
        c.revert_all_migrations(POSTGRES).expect("down");
        assert_eq!(tables(f), Vec::<String>::new());
    }
    assert_eq!(f.store.status().expect("a status").applied, Vec::<String>::new());
    assert_eq!(f.store.migrate().expect("up").len(), f.store.status().expect("a status").applied.len());
    assert_eq!(tables(f), before);
    f.submitted("1", "them", at(0));
    assert_eq!(f.claim(at(1), 1, 1).len(), 1);
}

fn migrating_twice_does_nothing(f: &Fixture) {
    assert_eq!(f.store.migrate().expect("nothing to do"), Vec::<String>::new());
    let Status { pending, applied, .. } = f.store.status().expect("a status");
    assert_eq!((pending.len(), applied.is_empty()), (0, false));
}

#[test]
fn both_databases_have_the_same_migrations() {
    let names = |folder: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
        let mut names: Vec<_> =
            std::fs::read_dir(root).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
}
