//! A repository with next to nothing in it, to make sure of a reviewer before the first case.

use super::git::CaseCheckout;
use crate::surroundings::Surroundings;
use crate::wiring::changes;
use mala_eval::ports::FileContents;

/// A repository that is gone when the value is.
pub struct SampleRepository {
    /// What is around a program that runs in it.
    pub inside: Surroundings,
    _checkout: CaseCheckout,
}

impl SampleRepository {
    /// Lays it out.
    pub async fn lay_out(here: &Surroundings) -> anyhow::Result<Self> {
        let files =
            |text: &str| FileContents::from([("sample.txt".into(), text.as_bytes().to_vec())]);
        let (base, head) = (files("one\n"), files("two\n"));
        let environment = changes::environment(here);
        let checkout = CaseCheckout::of(&base, &head, &std::env::temp_dir(), &environment).await?;
        let mut inside = Surroundings { folder: checkout.root().to_owned(), ..here.clone() };
        inside.environment.remove(std::ffi::OsStr::new("GIT_INDEX_FILE"));
        Ok(Self { inside, _checkout: checkout })
    }
}
