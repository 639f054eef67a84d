//! The store in PostgreSQL passes the suite, on a real server.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_store::Store;
use segue_store::conformance::{Bench, LeaseClock, suite};
use segue_store::postgres::Postgres;
use segue_testing::postgres::{self, Database};
use std::sync::Arc;

/// How many random sequences are run; a server takes longer than a folder in memory.
const CASES: u32 = 80;

/// A database of its own.
struct InPostgres(Database);

impl Bench for InPostgres {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Postgres::open(self.0.url()).unwrap())
    }

    fn open_beside(&self) -> Option<Arc<dyn Store>> {
        Some(self.open())
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Store
    }
}

segue_store::conformance_tests!(@written match postgres::database() {
    Some(database) => InPostgres(database),
    None => return,
});

/// A database that is emptied for each sequence: a new one takes longer than the sequence.
struct Emptied(Arc<Database>);

impl Emptied {
    fn of(database: &Arc<Database>) -> Box<dyn Bench> {
        // The guards refuse this, so they are switched off for it.
        let empty = "DO $$ DECLARE name text; BEGIN
            SET LOCAL session_replication_role = replica;
            FOR name IN SELECT tablename FROM pg_tables WHERE tablename LIKE 'segue!_%' ESCAPE '!'
                AND tablename NOT IN ('segue_migrations', 'segue_index_key') AND tablename !~ '_p[0-9]+$' LOOP
                EXECUTE format('DELETE FROM %I', name);
            END LOOP; END $$";
        database.psql(empty).unwrap();
        Box::new(Self(Arc::clone(database)))
    }
}

impl Bench for Emptied {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Postgres::open(self.0.url()).unwrap())
    }

    fn open_beside(&self) -> Option<Arc<dyn Store>> {
        Some(self.open())
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Store
    }
}

#[test]
fn random_operations_do_what_the_naive_model_says() {
    let Some(database) = postgres::database().map(Arc::new) else { return };
    suite::random_operations(CASES, &|| Emptied::of(&database));
}

#[test]
fn c7_c8_random_work_on_tasks_folds_to_what_is_stored() {
    let Some(database) = postgres::database().map(Arc::new) else { return };
    suite::random_work_on_tasks(CASES, &|| Emptied::of(&database));
}
