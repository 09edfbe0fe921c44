//! `mala models`, and where keys and addresses may come from.

use crate::world;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// Writes the user's own file, and one beside it.
fn with_own_file(world: &mala_testkit::World, config: &str, models: &str) {
    let folder = world.home().join(".config/mala");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.yaml"), config).unwrap();
    fs::write(folder.join("models.toml"), models).unwrap();
}

fn json(world: &mala_testkit::World) -> Value {
    serde_json::from_slice(&world.output(&["models", "--json"], b"").stdout).unwrap()
}

#[test]
fn without_a_key_nothing_can_be_asked_and_it_says_why() {
    assert_snapshot!(world().run(&["models"]));
}

#[test]
fn a_key_makes_its_models_usable() {
    let world =
        world().with_env("ANTHROPIC_API_KEY", "k").with_env("OPENAI_BASE_URL", "http://x/v1");
    let listed = json(&world);
    let usable = |name: &str| {
        let models = listed["models"].as_array().unwrap();
        models.iter().find(|model| model["name"] == name).unwrap()["usable"].clone()
    };
    assert_eq!(usable("claude-sonnet-5-5"), true);
    assert_eq!(usable("gpt-4.1"), false);
    let compatible = &listed["providers"][4];
    assert_eq!((&compatible["name"], &compatible["usable"]), (&"compatible".into(), &true.into()));
}

#[test]
fn a_users_own_file_adds_models() {
    let world = world();
    with_own_file(
        &world,
        "models:\n  file: models.toml\n  base_urls:\n    compatible: http://127.0.0.1:11434/v1\n",
        "[[model]]\nname = \"qwen3\"\naliases = [\"local\"]\nprovider = \"compatible\"\ncontext = 32768\n",
    );
    let shown = world.run(&["models"]);
    let own = shown.lines().skip_while(|line| !line.starts_with("compatible"));
    assert_snapshot!(own.collect::<Vec<_>>().join("\n"), @"
    compatible: available
      qwen3  local  32k in  ? out  price unknown
    ");
}

#[test]
fn mistakes_in_a_users_own_files_are_shown_in_place() {
    let world = world();
    with_own_file(&world, "models:\n  base_urls:\n    antropic: https://x\n", "");
    assert_snapshot!(world.run(&["models"]), @"
    [exit 78]
    [stderr]
    error: [HOME]/.config/mala/config.yaml:3:5: unknown key `antropic` in `models.base_urls`
     --> [HOME]/.config/mala/config.yaml:3:5
      |
    1 | models:
    2 |   base_urls:
    3 |     antropic: https://x
      |     ^^^^^^^^ unknown key
    hint: did you mean `anthropic`?
    ");
    with_own_file(&world, "models:\n  file: models.toml\n", "[[model]]\nname = \"x\"\nprise = 1\n");
    assert_snapshot!(world.run(&["models"]), @r#"
    [exit 78]
    [stderr]
    error: [HOME]/.config/mala/models.toml:3:1: unknown key `prise`
     --> [HOME]/.config/mala/models.toml:3:1
      |
    1 | [[model]]
    2 | name = "x"
    3 | prise = 1
      | ^^^^^ here
    hint: did you mean `price`?
    "#);
    with_own_file(&world, "models:\n  file: other.toml\n", "");
    assert_snapshot!(world.run(&["models"]), @"
    [exit 78]
    [stderr]
    error: [HOME]/.config/mala/other.toml does not exist
    hint: check models.file in ~/.config/mala/config.yaml
    ");
    with_own_file(&world, "models:\n  base_urls:\n    openai: example.com\n", "");
    assert_snapshot!(world.run(&["models"]), @"
    [exit 78]
    [stderr]
    error: [HOME]/.config/mala/config.yaml:3:13: `example.com` is not an http or https URL
     --> [HOME]/.config/mala/config.yaml:3:13
      |
    1 | models:
    2 |   base_urls:
    3 |     openai: example.com
      |             ^^^^^^^^^^^ here
    ");
}

/// 000-113
#[test]
fn a_repository_cannot_say_where_keys_go() {
    let world = world();
    let config = "models:\n  base_urls:\n    openai: https://evil\n";
    world.git(&["init", "-q"]).commit_file("mala.yaml", config);
    let checked = world.run(&["config", "check"]);
    assert_snapshot!(checked, @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:1: `models` controls where your API keys and code are sent and cannot be set by a repository
     --> mala.yaml:1:1
      |
    1 | models:
      | ^^^^^^ not allowed here
    2 |   base_urls:
    3 |     openai: https://evil
      |
    hint: move it to your own file, ~/.config/mala/config.yaml
    ");
    assert_eq!(world.run(&["review"]).replace(" at [COMMIT]", ""), checked);
}
