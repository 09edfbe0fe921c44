//! Tests of the model catalogue.

use super::*;
use crate::agent::budget::Dollars;
use crate::conversation::{
    AnswerFormat, ChatRequest, ChatTurn, TokenCounts, ToolChoice, ToolDefinition, TurnPart,
};

fn built_in() -> ModelCatalogue {
    ModelCatalogue::built_in()
}

fn overlaid(text: &str) -> Result<ModelCatalogue, String> {
    built_in().overlaid("models.toml", text).map_err(|error| {
        let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{error}{hint}")
    })
}

#[test]
fn the_built_in_models_are_consistent() {
    let catalogue = built_in();
    assert!(catalogue.models().len() > 15);
    for model in catalogue.models() {
        assert_eq!(catalogue.find(&model.name).map(|m| &m.name), Some(&model.name));
        let Some(price) = &model.price else { continue };
        for rates in [Some(&price.rates), price.long.as_ref().map(|(_, rates)| rates)] {
            let Some(rates) = rates else { continue };
            assert!(rates.output > rates.input, "{}", model.name);
            assert!(rates.cache_read.is_none_or(|read| read < rates.input), "{}", model.name);
            assert!(rates.cache_write.is_none_or(|write| write > rates.input), "{}", model.name);
        }
    }
    for alias in ["sonnet", "opus", "haiku", "gpt-4.1", "gpt-4.1-mini", "gemini-pro"] {
        assert!(catalogue.find(alias).is_some(), "{alias}");
    }
}

#[test]
fn names_resolve_to_providers() {
    for (name, expected) in [
        ("sonnet", Some((ModelProvider::Anthropic, "claude-sonnet-5-5", true))),
        (
            "claude-haiku-4-5-20251001",
            Some((ModelProvider::Anthropic, "claude-haiku-4-5-20251001", true)),
        ),
        ("gpt-4.1-mini-2025-04-14", Some((ModelProvider::OpenAi, "gpt-4.1-mini-2025-04-14", true))),
        ("openai/gpt-4.1", Some((ModelProvider::OpenAi, "gpt-4.1", true))),
        ("openai-chat/gpt-4.1", Some((ModelProvider::OpenAiChat, "gpt-4.1", true))),
        ("anthropic/opus", Some((ModelProvider::Anthropic, "claude-opus-5-5", true))),
        ("anthropic/claude-next", Some((ModelProvider::Anthropic, "claude-next", false))),
        ("gemini/gpt-4.1", Some((ModelProvider::Gemini, "gpt-4.1", false))),
        ("compatible/openai/gpt-4.1", Some((ModelProvider::Compatible, "openai/gpt-4.1", false))),
        ("compatible/", None),
        ("llama3", None),
        ("", None),
        ("other/llama3", None),
    ] {
        let choice = built_in().choose(name).ok();
        let found = choice.as_ref().map(|c| (c.provider, c.name.as_str(), c.known.is_some()));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn an_unknown_model_has_a_hint() {
    let error = built_in().choose("sonet").unwrap_err();
    assert_eq!(error.hint, "did you mean `sonnet`?");
    let error = built_in().choose("qwen").unwrap_err();
    assert!(error.hint.contains("PROVIDER/qwen"), "{}", error.hint);
    assert!(error.hint.contains("compatible"), "{}", error.hint);
}

#[test]
fn costs_follow_the_rates() {
    let catalogue = built_in();
    let cost = |name: &str, [input, output, read, write]: [Option<u64>; 4]| {
        let tokens = TokenCounts { input, output, cache_read: read, cache_write: write };
        catalogue.find(name).unwrap().cost(&tokens).map(Dollars::as_f64)
    };
    let million = Some(1_000_000);
    for (name, tokens, expected) in [
        ("claude-haiku-4-5", [million, million, None, None], Some(6.0)),
        ("claude-haiku-4-5", [million, Some(0), million, None], Some(0.1)),
        ("claude-haiku-4-5", [million, Some(0), Some(500_000), Some(500_000)], Some(0.675)),
        ("claude-haiku-4-5", [None, Some(1), None, None], None),
        ("claude-haiku-4-5", [Some(1), None, None, None], None),
        ("claude-haiku-5-5", [Some(100_000), Some(0), None, None], Some(0.01)),
        ("claude-haiku-5-5", [Some(200_000), Some(0), None, None], Some(0.1)),
        ("gpt-4.1", [million, Some(0), million, None], Some(0.5)),
        ("gpt-4.1", [million, Some(0), None, Some(1)], None),
        ("gemini-3.8-flash", [million, Some(0), million, None], Some(1.5)),
        ("gpt-6-astra", [Some(1), Some(1), None, None], None),
    ] {
        assert_eq!(cost(name, tokens), expected, "{name} {tokens:?}");
    }
}

#[test]
fn a_reservation_covers_the_actual_cost() {
    let worst = |model: &ModelSpec, tokens: &TokenCounts| {
        model.worst_cost(tokens.input.unwrap_or(0), tokens.output.unwrap_or(0))
    };
    for model in built_in().models() {
        for (input, read) in [(10, 0), (90_000, 80_000), (150_000, 0), (900_000, 1)] {
            for write in [0, input - read] {
                let tokens = TokenCounts {
                    input: Some(input),
                    output: Some(777),
                    cache_read: Some(read),
                    cache_write: Some(write),
                };
                let Some(cost) = model.cost(&tokens) else { continue };
                assert!(worst(model, &tokens) >= Some(cost), "{} {tokens:?}", model.name);
            }
        }
    }
}

#[test]
fn a_user_file_changes_and_adds_models() {
    let catalogue = overlaid(
        r#"
        [[model]]
        name = "claude-haiku-4-5"
        price = { input = 2.0, output = 9.0 }

        [[model]]
        name = "qwen3-coder"
        aliases = ["sonnet", "local"]
        provider = "compatible"
        context = 32_768
        structured_output = false
        "#,
    )
    .unwrap();
    let haiku = catalogue.find("claude-haiku-4-5").unwrap();
    assert_eq!(haiku.price.unwrap().rates.input, 2.0);
    assert_eq!(haiku.context, Some(200_000), "what is not said stays");
    let choice = catalogue.choose("sonnet").unwrap();
    assert_eq!((choice.provider, choice.name.as_str()), (ModelProvider::Compatible, "qwen3-coder"));
    let known = choice.known.unwrap();
    assert!(!known.can(ModelFeature::StructuredOutput) && known.can(ModelFeature::Tools));
    assert_eq!(known.worst_cost(1, 1), None, "no price is no zero");
    assert!(catalogue.find("claude-sonnet-5-5").unwrap().aliases.is_empty());
}

#[test]
fn a_broken_file_says_where_and_why() {
    for (text, expected) in [
        (
            "[[model]]\nname = \"x\"\n",
            "models.toml:1:1: missing key `provider` for the new model x",
        ),
        (
            "[[model]]\nname = \"x\"\nprovidr = \"openai\"\n",
            "models.toml:3:1: unknown key `providr` (did you mean `provider`?)",
        ),
        (
            "[[model]]\nname = \"x\"\nprovider = \"opnai\"\n",
            "models.toml:1:1: `opnai` is not one of anthropic, openai, openai-chat, gemini, compatible",
        ),
        (
            "[[model]]\nname = \"gpt-4.1\"\nprice = { input = -1.0, output = 1.0 }\n",
            "models.toml:1:1: prices of gpt-4.1 must be non-negative numbers",
        ),
        (
            "[[model]]\nname = \"gpt-4.1\"\n[[model]]\nname = \"gpt-4.1\"\n",
            "models.toml:3:1: duplicate name `gpt-4.1`: used by gpt-4.1 and gpt-4.1",
        ),
        ("[[model]]\nname = \"a b\"\n", "models.toml:1:1: `a b` is not a valid model name"),
        (
            "[[model]]\nname = \"gpt-4.1\"\ncontext = 0\n",
            "models.toml:1:1: `context` and `max_output` of gpt-4.1 must be greater than 0",
        ),
    ] {
        assert_eq!(overlaid(text).unwrap_err(), expected, "{text}");
    }
    assert!(overlaid("[[model]\n").unwrap_err().starts_with("models.toml:1:"));
    assert_eq!(overlaid("# nothing\n").unwrap(), built_in());
}

#[test]
fn no_bytes_break_the_reader() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let text = format!("[[model]]\nname = \"x\"\n{text}");
        if let Err(error) = built_in().overlaid("m", &text) {
            assert!(error.place.line >= 1);
        }
    });
}

#[test]
fn estimates_are_high_enough() {
    let code = "fn main() {\n    let total: u32 = items.iter().map(|item| item.price).sum();\n}\n";
    assert!(text_tokens(code) > 25, "{}", text_tokens(code));
    assert_eq!(text_tokens(""), 0);
    assert_eq!(text_tokens("日本語のテキスト"), 10);
    let mut ask = ChatRequest {
        model: "m".into(),
        system: "s".repeat(2400),
        tools: Vec::new(),
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(vec![TurnPart::Text("t".repeat(2400))])],
        form: AnswerFormat::Text,
        max_output_tokens: 1,
    };
    assert_eq!(input_tokens(&ask), 2024);
    ask.tools.push(ToolDefinition {
        name: "t".into(),
        description: "d".into(),
        arguments: "x".into(),
    });
    assert!(input_tokens(&ask) > 2024);
}
