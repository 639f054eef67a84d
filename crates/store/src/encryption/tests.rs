//! What the vault promises, without a store.

use super::*;

fn masters(n: u8) -> MasterKeys {
    MasterKeys::new(MasterKey::new([n; 32]), [])
}

fn scope(name: &str) -> Key {
    name.parse().unwrap()
}

#[test]
fn what_is_encrypted_comes_back_in_its_place_and_nowhere_else() {
    let (vault, document) = Vault::open(Some(&masters(1)), None).unwrap();
    let document = document.unwrap();
    let (mine, yours) = (scope("agent:main:cli:direct:me"), scope("agent:main:cli:direct:you"));
    let here = Bound::Entry(&mine, Seq(5));
    let sealed = vault.seal(here, b"hello").unwrap().unwrap();
    assert!(!sealed.windows(5).any(|part| part == b"hello"));
    // Also by another process that opens the same store.
    let (again, new) = Vault::open(Some(&masters(1)), Some(&document)).unwrap();
    assert_eq!((again.unseal(here, &sealed), new), (Ok(b"hello".to_vec()), None));
    let elsewhere = [
        Bound::Entry(&mine, Seq(6)),
        Bound::Entry(&yours, Seq(5)),
        Bound::Title(&mine, Number(5)),
        Bound::EntryEmbedding(&mine, Seq(5)),
        Bound::Value("agent:main:cli:direct:me", ""),
        Bound::TokenKey,
    ];
    for bound in elsewhere {
        assert_eq!(vault.unseal(bound, &sealed), Err(Unopened::Changed), "{bound:?}");
    }
    // A row among others of its scope.
    let sealed = vault.seal(Bound::ExtrasRow(&mine, "task", 1), b"hello").unwrap().unwrap();
    let elsewhere = [
        Bound::ExtrasRow(&mine, "task", 2),
        Bound::ExtrasRow(&mine, "kept", 1),
        Bound::ExtrasRow(&yours, "task", 1),
        Bound::Extras(&mine),
    ];
    for bound in elsewhere {
        assert_eq!(vault.unseal(bound, &sealed), Err(Unopened::Changed), "{bound:?}");
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_found() {
    let (vault, _) = Vault::open(Some(&masters(1)), None).unwrap();
    let bound = Bound::Value("n", "k");
    let sealed = vault.seal(bound, b"a value").unwrap().unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let found = vault.unseal(bound, &changed).unwrap_err();
        // The name of the key says which one is missing; without it nothing can be said about the rest.
        assert_eq!(matches!(found, Unopened::NoKey(_)), (1..=ID_BYTES).contains(&at), "{at}");
        assert_eq!(vault.unseal(bound, &sealed[..at]), Err(Unopened::Changed), "{at}");
    }
}

#[test]
fn a_missing_and_a_wrong_key_are_named_and_are_no_damage() {
    let (_, document) = Vault::open(Some(&masters(1)), None).unwrap();
    let document = document.unwrap();
    let right = masters(1).first().id();
    for given in [None, Some(masters(2))] {
        let error = Vault::open(given.as_ref(), Some(&document)).unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains(&right), "{error}");
    }
    let cut = Vault::open(Some(&masters(1)), Some(&document[..document.len() / 2])).unwrap_err();
    assert!(matches!(cut, Error::Damaged { .. }), "{cut:?}");
    let newer = document.replacen("\"format\":1", "\"format\":2", 1);
    let newer = Vault::open(Some(&masters(1)), Some(&newer)).unwrap_err();
    assert!(matches!(newer, Error::NewerFormat { found: 2, .. }), "{newer:?}");
}

#[test]
fn a_rotation_leaves_the_old_master_key_without_use_and_everything_readable() {
    let (vault, document) = Vault::open(Some(&masters(1)), None).unwrap();
    let bound = Bound::TokenKey;
    let old = vault.seal(bound, b"old").unwrap().unwrap();
    let both = MasterKeys::new(MasterKey::new([2; 32]), [MasterKey::new([1; 32])]);
    let (vault, _) = Vault::open(Some(&both), document.as_deref()).unwrap();
    let rotated = vault.rotated(&document.unwrap()).unwrap();
    vault.reload(&rotated).unwrap();
    let new = vault.seal(bound, b"new").unwrap().unwrap();
    assert_ne!(old[1..=ID_BYTES], new[1..=ID_BYTES], "a new data key");
    assert!(Vault::open(Some(&masters(1)), Some(&rotated)).is_err());
    let (vault, _) = Vault::open(Some(&masters(2)), Some(&rotated)).unwrap();
    assert_eq!(vault.unseal(bound, &old), Ok(b"old".to_vec()));
    assert_eq!(vault.unseal(bound, &new), Ok(b"new".to_vec()));
    let status = Vault::status(Some(&rotated)).unwrap();
    assert_eq!(status, Status::On { master: masters(2).first().id(), data_keys: 2 });
}

#[test]
fn plain_bytes_are_told_from_encrypted_ones() {
    let bound = Bound::Value("n", "k");
    let (on, _) = Vault::open(Some(&masters(1)), None).unwrap();
    let off = Vault::off();
    assert_eq!(off.seal(bound, b"x").unwrap(), None);
    assert_eq!(off.seal_bytes(bound, b"x").unwrap(), b"x");
    assert_eq!(on.unseal_bytes(bound, b"x".to_vec()), Ok(b"x".to_vec()), "written before it was turned on");
    let sealed = on.seal_bytes(bound, b"x").unwrap();
    assert_eq!(on.unseal_bytes(bound, sealed.clone()), Ok(b"x".to_vec()));
    assert_eq!(off.unseal_bytes(bound, sealed.clone()), Err(Unopened::Off));
    assert!(matches!(off.seal_bytes(bound, &sealed), Err(Error::Invalid { .. })));
}

#[test]
fn keys_are_read_from_text_and_never_shown() {
    let key = MasterKey::new([0xab; 32]);
    let hex = key.reveal();
    let base64 = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=";
    for text in [
        hex.as_str(),
        &format!("# a comment\n\n  {}\n", *hex),
        base64,
        &format!("{base64}\n{}", "00".repeat(32)),
    ] {
        let read: MasterKeys = text.parse().unwrap();
        assert_eq!(read.first().id(), key.id());
        assert!(!format!("{read:?}").contains("abab"));
    }
    for text in [
        "",
        "# nothing",
        "abab",
        &"ab".repeat(31),
        &"ab".repeat(33),
        "not a key at all",
        "a secret that is none",
    ] {
        let wrong = text.parse::<MasterKeys>().unwrap_err().to_string();
        assert!(wrong.contains("32 bytes") && wrong.contains("segue keys new"), "{wrong}");
        assert!(text.len() < 4 || text.starts_with('#') || !wrong.contains(text), "{wrong}");
    }
    assert_ne!(MasterKey::random().unwrap().id(), MasterKey::random().unwrap().id());
}
