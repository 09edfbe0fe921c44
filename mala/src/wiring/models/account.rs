//! Whose key a provider takes, and where it is.

use crate::surroundings::Surroundings;
use mala_adapters::models::{anthropic, gemini, openai_responses};
use mala_domain::config::{Account, ModelsBlock};
use mala_domain::models::Provider;

/// An address, and who says so.
pub(super) struct Address {
    pub(super) url: String,
    pub(super) origin: String,
}

/// The account that a provider is paid from.
pub fn account(provider: Provider) -> Account {
    match provider {
        Provider::Anthropic => Account::Anthropic,
        Provider::OpenAi | Provider::OpenAiChat => Account::OpenAi,
        Provider::Gemini => Account::Gemini,
        Provider::Compatible => Account::Compatible,
    }
}

/// The variable that holds the key.
pub(super) fn key_variable(account: Account) -> &'static str {
    match account {
        Account::Anthropic => "ANTHROPIC_API_KEY",
        Account::OpenAi | Account::Compatible => "OPENAI_API_KEY",
        Account::Gemini => "GEMINI_API_KEY",
    }
}

/// The address of a provider: the environment's, the user's or its own; a compatible server has
/// none of its own.
pub(super) fn base_url(
    provider: Provider,
    here: &Surroundings,
    block: &ModelsBlock,
) -> Option<Address> {
    let account = account(provider);
    let (variable, own) = match account {
        Account::Anthropic => ("ANTHROPIC_BASE_URL", Some(anthropic::BASE_URL)),
        Account::OpenAi => ("OPENAI_BASE_URL", Some(openai_responses::BASE_URL)),
        Account::Gemini => ("GOOGLE_GEMINI_BASE_URL", Some(gemini::BASE_URL)),
        Account::Compatible => ("OPENAI_BASE_URL", None),
    };
    let of_environment = || {
        let url = here.text(variable)?.to_owned();
        Some(Address { url, origin: variable.to_owned() })
    };
    let of_user = || {
        let url = block.base_urls.get(account)?.clone();
        Some(Address { url, origin: format!("models.base_urls.{}", account.name()) })
    };
    // Who names a compatible server means it, whatever OpenAI's address is.
    let chosen = match account {
        Account::Compatible => of_user().or_else(of_environment),
        _ => of_environment().or_else(of_user),
    };
    chosen.or_else(|| {
        let url = own?.to_owned();
        Some(Address { url, origin: provider.name().to_owned() })
    })
}
