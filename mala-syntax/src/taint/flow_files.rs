//! The flow files that come with the program: where values come from in each language, and what
//! its functions do to them.

use super::Model;
use super::spec::FlowFile;
use mala_domain::language::Language;
use std::sync::OnceLock;

const TEXTS: [&str; 2] =
    [include_str!("../../flow/javascript.yaml"), include_str!("../../flow/python.yaml")];

static MODELS: [OnceLock<Option<Model>>; 2] = [const { OnceLock::new() }; 2];

/// What the flow file of a language says; `None` when values are not followed in it.
pub(crate) fn flow_model(language: Language) -> Option<&'static Model> {
    let at = match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => 0,
        Language::Python => 1,
        _ => return None,
    };
    let text = TEXTS.get(at)?;
    let read =
        || serde_saphyr::from_str(text).ok().and_then(|file: FlowFile| Model::new(&file).ok());
    MODELS.get(at)?.get_or_init(read).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_file_can_be_read() {
        for text in TEXTS {
            let file: FlowFile = serde_saphyr::from_str(text).expect("parses");
            Model::new(&file).expect("has good paths");
        }
    }
}
