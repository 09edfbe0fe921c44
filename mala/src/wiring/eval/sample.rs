//! A repository with next to nothing in it, to make sure of a reviewer before the first case.

use crate::surroundings::Surroundings;
use crate::wiring::changes;
use mala_adapters::cases::Checkout;
use mala_domain::eval::BaseOrigin;
use mala_domain::eval::trees::{Files, Trees};

/// A repository that is gone when the value is.
pub struct Sample {
    /// What is around a program that runs in it.
    pub inside: Surroundings,
    _checkout: Checkout,
}

impl Sample {
    /// Lays it out.
    pub async fn lay_out(here: &Surroundings) -> anyhow::Result<Self> {
        let files = |text: &str| Files::from([("sample.txt".into(), text.as_bytes().to_vec())]);
        let trees = Trees {
            base: files("one\n"),
            head: files("two\n"),
            origin: BaseOrigin::Given,
            notes: Vec::new(),
        };
        let environment = changes::environment(here);
        let checkout = Checkout::of(&trees, &std::env::temp_dir(), &environment).await?;
        let mut inside = Surroundings { folder: checkout.root().to_owned(), ..here.clone() };
        inside.environment.remove(std::ffi::OsStr::new("GIT_INDEX_FILE"));
        Ok(Self { inside, _checkout: checkout })
    }
}
