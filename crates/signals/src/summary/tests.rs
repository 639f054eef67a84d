use super::*;

fn summary(lines: &[(Role, &str)]) -> Summary {
    let mut summary = Summary::new();
    for &(role, text) in lines {
        summary.observe(role, text);
    }
    summary
}

const TRIP: [(Role, &str); 9] = [
    (Role::User, "I want to plan a trip to Kyoto in April. Which hotels have a garden?"),
    (
        Role::Assistant,
        "The Sakura Hotel and the Fuji Inn both have one. Shall I book the Sakura Hotel for 120 euros a night?",
    ),
    (Role::User, "yes, the first one"),
    (Role::Assistant, "Booked. What day do you arrive?"),
    (
        Role::User,
        "On April 12. The budget for the trip is $900. How do I get from Kyoto station to the hotel?",
    ),
    (Role::Assistant, "Take bus 5, it stops at the garden next to the hotel."),
    (Role::Tool, "{\"noise\": \"Unrelated Tool Output\"}"),
    (Role::User, "Let's use the train instead of the bus. See https://example.org/map and plan.md"),
    (Role::User, "Do I need a visa for Japan?"),
];

#[test]
fn r1_r5_an_english_session_is_summed_up() {
    let summary = summary(&TRIP);
    let topics: Vec<String> = summary.topics().iter().map(|topic| topic.to_lowercase()).collect();
    assert!(topics.iter().any(|topic| topic.contains("hotel")), "{topics:?}");
    assert!(topics.iter().any(|topic| topic.contains("kyoto")), "{topics:?}");
    assert!(!topics.iter().any(|topic| topic == "the" || topic == "want"), "{topics:?}");
    assert_eq!(
        summary.decisions(),
        [
            "yes, the first one (\"Shall I book the Sakura Hotel for 120 euros a night?\")",
            "Let's use the train instead of the bus."
        ]
    );
    assert_eq!(summary.questions(), ["Do I need a visa for Japan?"]);
    let facts = summary.facts();
    for fact in [
        "Kyoto",
        "Sakura Hotel",
        "120 euros",
        "April 12",
        "$900",
        "https://example.org/map",
        "plan.md",
        "Fuji Inn",
    ] {
        assert!(facts.iter().any(|known| known == fact), "{fact}: {facts:?}");
    }
    assert!(!facts.iter().any(|fact| fact.contains("Tool")), "{facts:?}");
    assert_eq!(summary.messages(), 8);
}

#[test]
fn r1_r5_a_chinese_session_is_summed_up() {
    let summary = summary(&[
        (Role::User, "我想四月去京都旅行，哪家酒店有花园？"),
        (Role::Assistant, "樱花酒店有花园，每晚800元。建议住樱花酒店，可以吗？"),
        (Role::User, "好的，就住这家"),
        (Role::Assistant, "已经订好了，您几号到？"),
        (Role::User, "4月12日到。王先生也一起去，酒店离车站远吗？"),
        (Role::Assistant, "酒店离京都车站2公里。"),
        (Role::User, "决定坐火车去京都。去日本需要签证吗？"),
    ]);
    let topics = summary.topics();
    assert!(topics.iter().any(|topic| topic.contains("酒店")), "{topics:?}");
    assert!(topics.iter().any(|topic| topic.contains("京都")), "{topics:?}");
    assert!(topics.iter().all(|topic| (2..=4).contains(&topic.chars().count())), "{topics:?}");
    assert_eq!(summary.decisions().len(), 2, "{:?}", summary.decisions());
    assert_eq!(summary.decisions()[1], "决定坐火车去京都。");
    assert_eq!(summary.questions(), ["去日本需要签证吗？"]);
    let facts = summary.facts();
    for fact in ["800元", "4月12日", "王先生", "2公里"] {
        assert!(facts.iter().any(|known| known == fact), "{fact}: {facts:?}");
    }
}

#[test]
fn r5_a_question_stays_open_until_it_is_answered() {
    use Role::{Assistant, User};
    let open = |lines: &[(Role, &str)]| summary(lines).questions();
    assert_eq!(open(&[(User, "Why is it slow?"), (Assistant, "I'm not sure.")]), ["Why is it slow?"]);
    assert_eq!(
        open(&[(User, "Why is it slow?"), (Assistant, "Which version?")]),
        ["Why is it slow?", "Which version?"]
    );
    assert!(open(&[(User, "Why is it slow?"), (Assistant, "Because of the lock.")]).is_empty());
    assert!(open(&[(Assistant, "Which day?"), (User, "Friday")]).is_empty());
    assert_eq!(
        open(&[(Assistant, "Which day?"), (User, "What is the price?")]),
        ["Which day?", "What is the price?"]
    );
    assert!(open(&[(User, "Why is it slow?"), (User, "never mind")]).is_empty());
    assert!(open(&[(Assistant, "All done. Anything else?")]).is_empty());
    let later = [
        (User, "What does a visa for Japan cost?"),
        (Assistant, "Let me check."),
        (User, "And is breakfast included?"),
        (Assistant, "Breakfast is included."),
    ];
    assert_eq!(open(&later), ["What does a visa for Japan cost?"]);
    let mut answered = later.to_vec();
    answered.push((Assistant, "The visa is free."));
    assert!(open(&answered).is_empty());
    assert_eq!(open(&[(User, "签证多少钱？"), (Assistant, "不清楚")]), ["签证多少钱？"]);
    assert!(open(&[(User, "签证多少钱？"), (Assistant, "免费。")]).is_empty());
}

#[test]
fn r5_names_and_numbers_of_many_kinds() {
    let facts = |text| summary(&[(Role::User, text)]).facts();
    for (text, fact) in [
        ("it runs on Rust 1.95 here", "Rust 1.95"),
        ("upgrade to v2.1", "v2.1"),
        ("on 2026-03-01 we start", "2026-03-01"),
        ("write to anna@example.org please", "anna@example.org"),
        ("about 16GB of it", "16GB"),
        ("at 10:30 am", "10:30 am"),
        ("open src/main.rs first", "src/main.rs"),
        ("I met Anna's brother", "Anna"),
        ("a visit to New York City", "New York City"),
        ("on 12 March it rains", "12 March"),
        ("读过《红楼梦》吗", "《红楼梦》"),
        ("看main.rs的第三行", "main.rs"),
        ("一共3.5万元", "3.5万元"),
        ("２０２６年3月去", "2026年3月"),
        ("it grew by 50%", "50%"),
        ("PostgreSQL is fast", "PostgreSQL"),
        ("就用SQLite吧", "SQLite"),
        ("就用SQLite吧", "SQLite"),
    ] {
        assert!(facts(text).iter().any(|known| known == fact), "{fact}: {:?}", facts(text));
    }
    for text in [
        "The dog barks. It is loud.",
        "I think so, OK?",
        "Yes. Please do.",
        "three of them",
        "e.g. this",
        "我想去",
        "a.b.c.d",
        "10 of 20",
    ] {
        assert_eq!(facts(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn r5_the_text_for_a_model_leaves_empty_sections_out() {
    let mut summary = summary(&[(Role::User, "Let's use Postgres 16.2 for the billing database.")]);
    let text = summary.render(SummaryLanguage::English);
    assert!(text.contains("Decisions:\n- Let's use Postgres 16.2 for the billing database."), "{text}");
    assert!(text.starts_with("Topics: ") && text.contains("Names and numbers: Postgres 16.2"), "{text}");
    assert!(!text.contains("Open questions"), "{text}");
    let chinese = summary.render(SummaryLanguage::Chinese);
    assert!(chinese.starts_with("话题：") && chinese.contains("已定：\n- "), "{chinese}");
    summary = Summary::new();
    assert_eq!(summary.render(SummaryLanguage::English), "");
    assert_eq!(serde_json::to_value(summary.structured()).unwrap()["topics"], serde_json::json!([]));
}

#[test]
fn r1_the_same_messages_give_the_same_summary() {
    assert_eq!(summary(&TRIP), summary(&TRIP));
    assert_eq!(
        summary(&TRIP).render(SummaryLanguage::English),
        summary(&TRIP).render(SummaryLanguage::English)
    );
}

#[test]
fn r1_fifty_thousand_messages_stay_bounded() {
    let mut summary = Summary::new();
    for number in 0..50_000_u32 {
        let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
        let text = format!(
            "Let's use plan zq{number}x for Client{number} Corp{number}, {number} euros. Why topic{number}?"
        );
        summary.observe(role, &text);
    }
    assert_eq!(summary.messages(), 50_000);
    assert!(summary.topics.len() <= 256 && summary.facts.len() <= 64);
    assert!(summary.topics().len() <= 6 && summary.facts().len() <= 12);
    assert!(summary.decisions().len() <= 8 && summary.questions().len() <= 6);
    assert!(summary.render(SummaryLanguage::English).len() < 8_000);
}

#[test]
fn r1_an_old_topic_fades() {
    let mut lines = vec![(Role::User, "The parser fails on empty rows, fix the parser"); 4];
    lines.extend([(Role::User, "The garden needs tomatoes and the tomatoes need water"); 40]);
    let topics = summary(&lines).topics();
    assert!(topics[0].to_lowercase().contains("tomato"), "{topics:?}");
}

#[test]
fn r1_long_and_odd_input_does_no_harm() {
    let odd = [
        "x".repeat(1_000_000),
        "数".repeat(350_000),
        "😀\u{0}\u{7}".repeat(150_000),
        "A ".repeat(500_000),
        "?".repeat(1_000_000),
        "```".to_owned(),
        "\n".repeat(1_000_000),
        "1".repeat(1_000_000),
        "《".repeat(100_000),
        "决定".repeat(100_000),
        "\u{202e}abc\u{200b}".to_owned(),
        "$".to_owned(),
        "http://".to_owned(),
        "1年2月3".to_owned(),
        ".rs @. a@ v. 's".to_owned(),
        String::new(),
    ];
    for role in [Role::User, Role::Assistant, Role::User] {
        let mut summary = Summary::new();
        for text in &odd {
            summary.observe(role, text);
        }
        let said = summary.structured();
        let all = said.decisions.iter().chain(&said.questions);
        assert!(all.map(|sentence| sentence.chars().count()).all(|chars| chars <= 160));
        assert!(!summary.render(SummaryLanguage::Chinese).contains('\u{0}'));
    }
}
#[test]
fn r1_a_chinese_word_that_no_table_knows_is_a_topic_when_it_is_said_again() {
    let topics = summary(&[
        (Role::User, "帮我写一个爬虫，抓取电影的评分"),
        (Role::Assistant, "好的，你需要抓取多少页？"),
        (Role::User, "前10页就行。另外爬虫要不要加延时？"),
    ])
    .topics();
    assert!(topics.contains(&"爬虫".to_owned()), "{topics:?}");
}
