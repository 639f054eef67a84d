//! Tokens: made once, shown once, stored hashed.

use super::Right;
use crate::values::{Space, Values};
use segue_core::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::Arc;

/// What every secret begins with, so that people and scanners recognise one.
const PREFIX: &str = "sgt_";

/// How many random bytes a secret has.
const SECRET_BYTES: usize = 32;

/// The longest name of a token, in characters.
const NAME_CHARS_MAX: usize = 100;

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is known by in limits and logs.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The prefixes of the scopes that it sees.
    pub scopes: Vec<String>,
    /// What it may do.
    pub rights: Right,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    #[serde(default)]
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Tells whether the token counts.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }

    /// Tells whether a scope is under one of the token's prefixes. A prefix ends where a part of the key ends: `agent:a`
    /// covers `agent:a` and `agent:a:x`, and neither `agent:ab` nor `agent:a-1`, which may be somebody else's. One that ends
    /// with a mark is taken as it is: `team-a-` covers `team-a-1`.
    pub fn covers(&self, scope: &str) -> bool {
        self.scopes.iter().any(|prefix| {
            scope.strip_prefix(prefix.as_str()).is_some_and(|rest| {
                let is_open = prefix.chars().next_back().is_none_or(|last| !last.is_alphanumeric());
                rest.is_empty() || is_open || rest.starts_with(':')
            })
        })
    }
}

/// A token that was just made: the only time that its secret is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The token.
    pub token: Token,
    /// Its secret.
    pub secret: String,
}

/// Why a token was not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name is taken.
    #[error("there is a token of the name {0:?} already: choose another name, or revoke it first")]
    NameTaken(String),
    /// There is no such token.
    #[error("there is no token of the name {0:?}: `segue token list` lists them")]
    NoToken(String),
    /// The name cannot be used.
    #[error("a token's name has 1 to {NAME_CHARS_MAX} printable characters")]
    Name,
    /// The machine gives no random numbers.
    #[error("the machine gives no random numbers: {0}")]
    Random(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] segue_store::Error),
}

/// The tokens of a store. Whoever shares the store sees a change at once.
#[derive(Clone)]
pub struct Tokens(Arc<Values>);

impl Tokens {
    /// Opens the tokens of a store.
    pub fn new(values: Arc<Values>) -> Self {
        Self(values)
    }

    /// Makes a token.
    pub async fn add(
        &self,
        name: &str,
        scopes: Vec<String>,
        rights: Right,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<NewToken, TokenError> {
        let is_fine = !name.trim().is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control);
        if !is_fine {
            return Err(TokenError::Name);
        }
        if self.list(now).await?.iter().any(|token| token.name == name && token.revoked_at.is_none()) {
            return Err(TokenError::NameTaken(name.to_owned()));
        }
        let secret = secret()?;
        let key = hash(&secret);
        let id = key.get(..12).unwrap_or(&key).to_owned();
        let scopes = if scopes.is_empty() { vec![String::new()] } else { scopes };
        let token = Token {
            id,
            name: name.to_owned(),
            scopes,
            rights,
            created_at: now,
            expires_at,
            revoked_at: None,
        };
        self.0.put(Space::Token, &key, &token, None).await?;
        Ok(NewToken { token, secret })
    }

    /// Lists all tokens, revoked ones too, the oldest first.
    pub async fn list(&self, now: Timestamp) -> Result<Vec<Token>, TokenError> {
        let mut tokens: Vec<Token> =
            self.0.list(Space::Token, now).await?.into_iter().map(|(_, token)| token).collect();
        tokens.sort_by(|a: &Token, b| (a.created_at, &a.name).cmp(&(b.created_at, &b.name)));
        Ok(tokens)
    }

    /// Revokes a token. It stays in the list, so that a server whose last token was revoked does not stand open.
    pub async fn revoke(&self, name: &str, now: Timestamp) -> Result<Token, TokenError> {
        let found = self.0.list::<Token>(Space::Token, now).await?;
        let found = found.into_iter().find(|(_, token)| token.name == name && token.revoked_at.is_none());
        let Some((key, mut token)) = found else { return Err(TokenError::NoToken(name.to_owned())) };
        token.revoked_at = Some(now);
        self.0.put(Space::Token, &key, &token, None).await?;
        Ok(token)
    }

    /// Tells whether a token was ever made here.
    pub async fn any(&self, now: Timestamp) -> Result<bool, TokenError> {
        Ok(self.0.any(Space::Token, now).await?)
    }

    /// Tells whether a token that was found still counts.
    pub async fn still(&self, token: &Token, now: Timestamp) -> Result<bool, TokenError> {
        let found: Vec<(String, Token)> = self.0.list_under(Space::Token, &token.id, now).await?;
        Ok(found.iter().any(|(_, found)| found.id == token.id && found.is_valid(now)))
    }

    /// Finds the token of a secret, unless it has ended.
    pub async fn find(&self, secret: &str, now: Timestamp) -> Result<Option<Token>, TokenError> {
        if !secret.starts_with(PREFIX) {
            return Ok(None);
        }
        let token: Option<Token> = self.0.get(Space::Token, &hash(secret), now).await?;
        Ok(token.filter(|token| token.is_valid(now)))
    }
}

fn secret() -> Result<String, TokenError> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
    let mut secret = PREFIX.to_owned();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(secret, "{byte:02x}");
    }
    Ok(secret)
}

/// Secrets have 256 random bits, so a plain hash cannot be searched for.
fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(scopes: &[&str]) -> Token {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let at = Timestamp::UNIX_EPOCH;
        let (id, name) = ("i".to_owned(), "n".to_owned());
        Token { id, name, scopes, rights: Right::Read, created_at: at, expires_at: None, revoked_at: None }
    }

    #[test]
    fn a_prefix_ends_where_a_part_ends() {
        let one = token(&["agent:a", "tenant:", "team-b-"]);
        for (scope, covered) in [
            ("agent:a", true),
            ("agent:a:x", true),
            ("agent:ab", false),
            ("agent:a-1", false),
            ("tenant:1", true),
            ("ten", false),
            ("team-b-1", true),
            ("team-b", false),
        ] {
            assert_eq!(one.covers(scope), covered, "{scope}");
        }
        assert!(token(&[""]).covers("anything"));
    }
}
