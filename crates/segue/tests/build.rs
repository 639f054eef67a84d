//! What the builder takes, and what it refuses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use segue::{BuildError, Config, Inbound, Segue, scope};
use std::path::PathBuf;

fn me() -> scope::Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn unknown_command(segue: &Segue) -> Option<String> {
    segue.receive(Inbound::user(me(), segue.now(), "/nonsense")).await.unwrap().reply
}

#[tokio::test]
async fn settings_are_a_text_a_file_or_a_config() {
    let text = "commands.unknown = \"pass\"\nstore.url = \"memory:\"";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("segue.toml");
    std::fs::write(&file, text).unwrap();
    let from_text = Segue::builder().config(text).build().await.unwrap();
    let from_file = Segue::builder().config(file).build().await.unwrap();
    let config: Config = from_text.engine().config().clone();
    let from_config = Segue::builder().config(config).build().await.unwrap();
    for segue in [from_text, from_file, from_config] {
        assert_eq!(unknown_command(&segue).await, None, "it is passed on to the agent");
    }
    let defaults = Segue::builder().store("memory:").build().await.unwrap();
    assert!(unknown_command(&defaults).await.is_some());
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let error = |builder: segue::Builder| async { builder.build().await.err().unwrap() };
    assert!(matches!(error(Segue::builder()).await, BuildError::NoStore));
    assert!(matches!(error(Segue::builder().store("segue.db")).await, BuildError::Location(_)));
    assert!(matches!(error(Segue::builder().config("storr = 1")).await, BuildError::Config(_)));
    let missing = PathBuf::from("there/is/none.toml");
    assert!(matches!(error(Segue::builder().config(missing)).await, BuildError::File { .. }));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("segue.db").display());
    let first = Segue::builder().store(&url).build().await.unwrap();
    first.receive(Inbound::user(me(), first.now(), "hello")).await.unwrap();
    drop(first);
    let again = Segue::builder().store(&url).build().await.unwrap();
    let context = again.context(&me()).await.unwrap();
    assert_eq!(context.said()[0].1.text, "hello");
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn an_encrypted_store_is_opened_with_its_key_and_not_without() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("segue.db").display());
    let keys = || segue::MasterKeys::new(segue::MasterKey::new([7; 32]), []);
    let first = Segue::builder().store(&url).master_keys(keys()).build().await.unwrap();
    first.receive(Inbound::user(me(), first.now(), "hello")).await.unwrap();
    drop(first);
    let without = Segue::builder().store(&url).build().await.err().unwrap();
    assert!(matches!(without, BuildError::Store(segue_store::Error::Locked { .. })), "{without}");
    // Settings that name a key do not open a store without it.
    let named = Segue::builder().store(&url).config("store.key_env = \"KEY\"").build().await.err().unwrap();
    assert!(matches!(named, BuildError::NoKey), "{named}");
    let again = Segue::builder().store(&url).master_keys(keys()).build().await.unwrap();
    assert_eq!(again.context(&me()).await.unwrap().said()[0].1.text, "hello");
}
