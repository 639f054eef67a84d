//! Moves what upkeep has made of sessions from the extras of their scopes to their own rows: the second step of the schema.

use super::connect::Connection;
use super::rows::{column, with_upkeep};
use crate::error::Error;
use crate::older_extras::split;
use segue_core::session::Number;
use std::collections::BTreeMap;
use tokio_postgres::types::Type;

/// Does so for all scopes, in the transaction that migrates.
pub(super) async fn settle(db: &Connection) -> Result<(), Error> {
    let sql = "SELECT scope, extras FROM segue_extras WHERE extras ~ '\"(archived|memories|names)\"'";
    for row in db.long_rows(sql, &[]).await? {
        let (scope, extras): (String, String) = (column(&row, 0)?, column(&row, 1)?);
        let sql = "SELECT number, session FROM segue_sessions WHERE scope = $1";
        let rows = db.rows(sql, &[(&scope, Type::TEXT)]).await?;
        let mut there: BTreeMap<Number, String> = BTreeMap::new();
        for row in &rows {
            let number: i64 = column(row, 0)?;
            there.insert(Number(u32::try_from(number).unwrap_or(0)), column(row, 1)?);
        }
        // A row that cannot be read is read from the log instead, and told by `segue verify`.
        let Ok(Some((extras, sessions))) = split(&extras, |number| there.contains_key(&number)) else {
            continue;
        };
        for (number, upkeep) in sessions {
            let Some(session) = there.get(&number) else { continue };
            let Ok(session) = with_upkeep(session, upkeep) else { continue };
            let sql = "UPDATE segue_sessions SET session = $3 WHERE scope = $1 AND number = $2";
            let number = i64::from(number.0);
            db.rows(sql, &[(&scope, Type::TEXT), (&number, Type::INT8), (&session, Type::TEXT)]).await?;
        }
        let sql = "UPDATE segue_extras SET extras = $2 WHERE scope = $1";
        db.rows(sql, &[(&scope, Type::TEXT), (&extras, Type::TEXT)]).await?;
    }
    Ok(())
}
