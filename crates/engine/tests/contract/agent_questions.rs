//! Answers to what the agent asked go on, also in the morning.

use super::script::{Stage, play};
use segue_core::decision::{Action, Reason};
use segue_core::session::Number;
use serde_json::Value;

const POLICIES: [(&str, &str); 3] = [("layered", "1d 07:01"), ("adaptive", "1d 07:01"), ("task", "2d 07:01")];

async fn asked(policy: &str, said: &str, question: &str) -> Stage {
    let script = format!("22:40 user: {said}\n22:50 assistant: {question}");
    play(&format!("lifecycle.policy = '{policy}'"), &script).await
}

/// an answer to what the assistant asked goes on in the morning, under every policy but the literal one of 000.
#[tokio::test]
async fn x13_an_answer_goes_on_in_the_morning() {
    let said = [
        (
            "help me plan a dinner for my parents",
            "With pleasure. Do they eat fish, or should it be vegetarian?",
            "fish is fine",
        ),
        (
            "help me plan a dinner for my parents",
            "With pleasure. Do they eat fish, or should it be vegetarian?",
            "both are ok",
        ),
        (
            "can you check my flight to dublin tomorrow",
            "Sure! Which airline is it, and what is the booking code?",
            "X7KQ2P",
        ),
        (
            "help me write my CV",
            "Gladly. What is your job, and for how long?",
            "senior nurse at the city hospital, 12 years",
        ),
        ("想去成都玩，帮我安排一下行程", "好的！你打算玩几天？", "三天吧"),
    ];
    for (said, question, answer) in said {
        for (policy, morning) in POLICIES {
            let mut stage = asked(policy, said, question).await;
            let outcome = stage.say(&format!("{morning} user: {answer}")).await;
            let goes_on = matches!(outcome.action, Action::Continue | Action::ContinueReinject);
            assert!(goes_on && outcome.session == Number(1), "{policy}: {answer}: {outcome:?}");
            assert_eq!(outcome.notice, None, "{policy}: {answer}");
        }
        let mut stage = asked("segmented", said, question).await;
        assert_eq!(stage.say(&format!("2d 08:00 user: {answer}")).await.session, Number(2), "{answer}");
    }
}

/// the pairs of the own set, of which nine in ten must come out right under each policy.
#[tokio::test]
async fn x13_the_pairs_of_the_own_set() {
    for language in ["en", "zh"] {
        let path = format!("{}/../../eval/{language}/agent_questions.jsonl", env!("CARGO_MANIFEST_DIR"));
        let pairs: Vec<Value> = std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for (policy, morning) in POLICIES {
            let mut wrong = Vec::new();
            for pair in &pairs {
                let text = |key: &str| pair[key].as_str().unwrap().replace('\n', " ");
                let mut stage = asked(policy, &text("said"), &text("question")).await;
                let outcome = stage.say(&format!("{morning} user: {}", text("text"))).await;
                let answers = outcome.because.contains(&Reason::AnswersAgent) && outcome.session == Number(1);
                if answers != pair["answers"].as_bool().unwrap() {
                    wrong.push(text("text"));
                }
            }
            assert!(wrong.len() * 10 < pairs.len(), "{language} {policy}: {wrong:?}");
        }
    }
}
