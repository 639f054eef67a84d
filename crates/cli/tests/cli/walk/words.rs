//! Plain words, titles, languages and memory (findings 16 to 19 and 24).

use super::{ANN, chat, list, play, session, told, world};
use serde_json::Value;

const JAPAN: &str = "
    1T10:00:00 user: help me plan a two week trip to japan in april, tokyo and kyoto
    1T10:00:10 assistant: Lovely. A week in each, with a day in Nara between them.
    1T10:30:00 user: /new
    1T10:30:10 user: my spring boot app does not start, port 8080 is already in use
    1T10:30:20 assistant: Another process listens there; set server.port to another one.
    1T10:31:00 user: and where is the application.yml of the spring boot app?
    1T10:31:10 assistant: In src/main/resources.
";

/// The engine asks about everything that may be new, and holds the message.
const HOLDS: &str = "lifecycle.shift.threshold = 0.999\nlifecycle.question = \"hold\"\n";

#[test]
fn fc16_plain_words_count_though_a_question_was_just_asked() {
    let world = world();
    world.file("segue.toml", HOLDS);
    play(&world, JAPAN);
    let asked = play(
        &world,
        "1T10:32:00 user: My grandmother turns ninety on Sunday, which flowers last longest in a vase?",
    );
    assert_eq!(asked[0]["action"], "ask", "{asked:?}");
    let outcome = play(&world, "1T10:32:04 user: ok back to the japan trip").remove(0);
    assert_eq!(session(&outcome), 1, "{outcome}");
    assert!(told(&outcome).contains("#1"), "{outcome}");
}

#[test]
fn fc17_an_answer_may_name_the_session() {
    for (first, question, answer) in [
        (
            "help me plan a two week trip to japan in april, tokyo and kyoto",
            "how many days do we need in kyoto in april?",
            "the japan one",
        ),
        ("周末去成都玩，三天怎么安排？看大熊猫和青城山", "成都的大熊猫基地几点开门？", "回到成都那个"),
    ] {
        let world = world();
        world.file("segue.toml", HOLDS);
        play(
            &world,
            &format!(
                "1T10:00:00 user: {first}
                 1T10:00:10 assistant: ok
                 1T10:30:00 user: /new
                 1T10:30:10 user: my spring boot app does not start, port 8080 is already in use
                 1T10:30:20 assistant: Another process listens there; set server.port to another one.
                 1T10:31:00 user: and where is the application.yml of the spring boot app?
                 1T10:31:10 assistant: In src/main/resources."
            ),
        );
        let asked = play(&world, &format!("1T10:32:00 user: {question}")).remove(0);
        assert_eq!(asked["action"], "ask", "{asked}");
        assert!(asked["options"].to_string().contains("older"), "{asked}");
        let outcome = play(&world, &format!("1T10:32:09 user: {answer}")).remove(0);
        assert_eq!(session(&outcome), 1, "{answer}: {outcome}");
        assert!(told(&outcome).contains("#1"), "{answer}: {outcome}");
    }
}

/// A question that was open when the program ended is shown when it begins again, with its words.
#[test]
fn fc17_an_open_question_is_shown_after_a_restart() {
    let world = world();
    world.file("segue.toml", HOLDS);
    let asked = chat(&world, &[], crate::chat_model::JUMP).out;
    assert!(asked.contains("(your message waits)"), "{asked}");
    let again = chat(&world, &[], "").out;
    assert!(again.contains("1 /continue") && again.contains("(your message waits)"), "{again}");
    let question = asked.lines().rev().find(|line| line.contains('?')).unwrap();
    assert!(again.contains(question), "the question itself: {question}\n{again}");
}

/// So is an offer that still stands.
#[test]
fn fc17_a_live_offer_is_shown_after_a_restart() {
    let world = world();
    world.file("segue.toml", "lifecycle.shift.threshold = 0.999\n");
    let offered = chat(&world, &[], crate::chat_model::JUMP).out;
    let offer =
        offered.lines().rev().find(|line| line.contains("/fresh")).unwrap_or_else(|| panic!("{offered}"));
    let again = chat(&world, &[], "").out;
    assert!(again.contains(offer) && !again.contains("(your message waits)"), "{offer}\n{again}");
    chat(&world, &[], "thanks\nred ones?\nand white ones?\n");
    assert_eq!(chat(&world, &[], "").out, "", "it stands for two more messages");
}

#[test]
fn fc18_titles_name_the_topic_and_stay() {
    let title = |world: &crate::world::World, number: u64| {
        let row = list(world).into_iter().find(|row| row["index"] == number).unwrap();
        row["title"].as_str().unwrap_or_default().to_owned()
    };
    let world = world();
    // Where a session ends is not the question here.
    world.file("segue.toml", "lifecycle.auto_route = \"never\"\n");
    play(
        &world,
        "1T10:00:00 user: hi
         1T10:00:10 assistant: Hello!
         1T10:01:00 user: help me plan a two week trip to japan in april
         1T10:01:10 assistant: Lovely.",
    );
    let first = title(&world, 1);
    assert!(first.contains("japan"), "{first}");
    play(
        &world,
        "1T10:02:00 user: whats the jr pass cost now?
         1T10:02:10 assistant: About 50,000 yen.
         1T10:03:00 user: thanks!
         1T11:00:00 user: /new
         1T11:00:10 user: what can I cook for six people with lentils?
         1T11:00:20 assistant: A big dal.
         1T11:01:00 user: no oven btw
         1T12:00:00 user: 换个话题",
    );
    assert_ne!(list(&world)[0]["title"], "换个话题", "{:?}", list(&world)[0]);
    play(&world, "1T12:00:10 user: 周末去成都玩，三天怎么安排？");
    assert_eq!(title(&world, 1), first, "it stays");
    assert!(title(&world, 2).contains("lentils"), "{}", title(&world, 2));
    let last = list(&world)[0]["title"].as_str().unwrap().to_owned();
    assert!(last.contains("成都"), "{last}");
}

/// Chinese characters, and no English word but a command's name or what the person said in English.
#[track_caller]
fn is_chinese(text: &str) {
    assert!(text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{text}");
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "/#:-_".contains(c)));
    // A digest is no word, even where it begins with a letter.
    let is_digest = |word: &str| word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit());
    let english =
        words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_digest(word));
    let english: Vec<&str> =
        english.filter(|word| !["N", "agent:main", "layered", "main"].contains(word)).collect();
    assert!(english.is_empty(), "{english:?} in: {text}");
}

#[test]
fn fc19_notices_are_in_the_users_language_and_whole() {
    let world = world();
    let outcomes = play(
        &world,
        "1T10:00:00 user: 帮我规划一次去日本的旅行，两周，四月份
         1T10:00:10 assistant: 好的，东京和京都各一周。
         1T10:01:00 user: /new
         1T10:01:10 user: 黑麦面包要发酵多久？
         1T10:01:20 assistant: 室温下四到六个小时。
         1T10:02:00 user: /session list
         1T10:03:00 user: /undo
         1T10:04:00 user: /redo
         1T10:05:00 user: 换个话题
         1T10:06:00 user: /session list
         1T10:07:00 user: /session resume 99
         1T10:08:00 user: /why
         1T10:09:00 user: /status",
    );
    for outcome in outcomes.iter().filter(|outcome| !told(outcome).is_empty()) {
        is_chinese(
            &told(outcome).replace(ANN, "").replace("/session list", "").replace("/session resume", ""),
        );
    }
    assert!(outcomes.iter().filter(|outcome| !told(outcome).is_empty()).count() >= 9);
    // Every command is explained; its name and what it takes are the same in all languages.
    let help = told(&play(&world, "1T10:10:00 user: /help")[0]);
    assert!(help.lines().count() > 20, "{help}");
    for line in help.lines() {
        let (_, about) = line.split_once("  ").unwrap_or_else(|| panic!("{line}"));
        assert!(about.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{line}");
    }
    // What a chat says on request, and about itself.
    let explained = chat(&world, &["--explain"], "周末想做黑麦面包，面粉和水的比例是多少？\n/retry\n");
    for line in explained.out.lines().chain(explained.err.lines()).filter(|line| !line.is_empty()) {
        is_chinese(&line.replace("error: ", "").replace("--model", ""));
    }
    assert!(explained.out.contains("把握"), "{}", explained.out);
}

#[test]
fn fc24_memory_keeps_facts_and_no_questions() {
    let world = world();
    play(
        &world,
        "1T10:00:00 user: we want to spend two weeks in japan
         1T10:00:10 assistant: What do you enjoy?
         1T10:01:00 user: we like food + hiking
         1T10:01:10 assistant: And the budget?
         1T10:02:00 user: like 40k?
         1T10:02:10 assistant: That is fine.
         1T10:03:00 user: I'm allergic to peanuts
         1T10:04:00 user: /new",
    );
    world.run(&["memory", "work"]).expect_code(0);
    let kept = world.run(&["memory", "list", "--json"]).expect_code(0).json();
    let texts: Vec<&str> =
        kept.as_array().unwrap().iter().map(|row: &Value| row["text"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("food + hiking")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("peanuts")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("40k") || text.ends_with('?')), "{texts:?}");
}
