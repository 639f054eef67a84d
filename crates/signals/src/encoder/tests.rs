use super::*;

const TEXTS: [&str; 4] = [
    "My sourdough loaf comes out dense.",
    "How do I get lighter bread?",
    "The server web03 ran out of disk space at 3 a.m.!",
    "Café reservations in São Paulo cost €40, don’t they?",
];

#[allow(clippy::unwrap_used, reason = "a test may fail")]
fn encoder() -> &'static Encoder {
    Encoder::builtin().unwrap()
}

/// The numbers are those of the model in 32 bits, by the package that the script takes it from.
#[test]
fn texts_lie_where_the_model_in_full_puts_them() {
    let senses: Vec<Sense> = encoder().senses(&TEXTS).into_iter().flatten().collect();
    let full =
        [(0, 1, 0.6102), (0, 2, 0.1590), (0, 3, 0.1255), (1, 2, -0.0105), (1, 3, 0.1340), (2, 3, 0.0053)];
    for (a, b, expected) in full {
        let found = senses[a].nearness(&senses[b]);
        assert!((found - expected).abs() < 0.01, "{a} and {b}: {found} instead of {expected}");
    }
    assert!((senses[0].nearness(&senses[0]) - 1.0).abs() < 1e-5);
}

#[test]
fn words_are_cut_as_the_model_was_taught() {
    let cut = |text: &str| {
        let pieces = encoder().pieces.of(text, TOKENS_MAX);
        pieces.into_iter().map(|piece| encoder().pieces.get(piece)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(cut(TEXTS[0]), "[CLS] my sour ##dou ##gh loaf comes out dense . [SEP]");
    assert_eq!(cut(TEXTS[2]), "[CLS] the server web ##0 ##3 ran out of disk space at 3 a . m . ! [SEP]");
    assert_eq!(cut("Café in São Paulo, don’t"), "[CLS] cafe in sao paulo , don ’ t [SEP]");
    assert_eq!(cut("面包 and ﷽"), "[CLS] [UNK] [UNK] and [UNK] [SEP]");
    assert_eq!(cut("git提交 [x] soft\u{ad}ware"), "[CLS] gi ##t [UNK] [UNK] [ x ] software [SEP]");
    assert_eq!(cut(&"x".repeat(101)), "[CLS] [UNK] [SEP]");
    assert_eq!(encoder().pieces.of(&"the cat ".repeat(500), TOKENS_MAX).len(), TOKENS_MAX);
}

#[test]
fn company_changes_nothing() {
    let long = "remind me to water the tomatoes ".repeat(90);
    let many: Vec<&str> = TEXTS.iter().copied().chain(["", "你好", &long]).cycle().take(40).collect();
    let together = encoder().senses(&many);
    for (text, sense) in many.iter().zip(together) {
        assert_eq!(encoder().sense(text), sense, "{text}");
    }
}

#[test]
fn what_is_not_english_lies_nowhere() {
    for text in ["", "42", "!?", "面包怎么做才松软", "Почему хлеб тяжёлый", "用 git 提交代码怎么做"]
    {
        assert_eq!(encoder().sense(text), None, "{text}");
    }
    assert!(encoder().sense("how do I cook 面包").is_some());
}

#[test]
fn a_sense_is_kept_as_its_bytes() {
    let sense = encoder().sense(TEXTS[0]).unwrap();
    assert_eq!(Sense::from_bytes(&sense.bytes()), Some(sense));
    assert_eq!(Sense::from_bytes(b"short"), None);
}

#[test]
fn a_broken_encoder_is_refused_with_what_to_do() {
    assert_eq!(weights::load(b"SG").unwrap_err(), EncoderError::Truncated);
    assert_eq!(weights::load(b"something").unwrap_err(), EncoderError::NotAnEncoder);
    for cut in [20, 40, 10_000, 3_000_000, assets::ENCODER.unwrap().len() - 1] {
        assert_eq!(
            weights::load(&assets::ENCODER.unwrap()[..cut]).unwrap_err(),
            EncoderError::Truncated,
            "{cut}"
        );
    }
}
