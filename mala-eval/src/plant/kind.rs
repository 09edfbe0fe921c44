//! The kinds of defects that can be planted.

use mala_domain::finding::{Category, Severity};
use serde::{Deserialize, Serialize};

/// A kind of defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefectKind {
    /// A bound is one too high or too low.
    OffByOne,
    /// An asynchronous call is not awaited.
    DroppedAwait,
    /// Two arguments of a call have traded places.
    SwappedArguments,
    /// A check of bad values is missing.
    RemovedCheck,
    /// More errors are swallowed than intended.
    WidenedException,
    /// Something that is opened is not closed.
    LeakedHandle,
    /// A condition is inverted.
    InvertedCondition,
}

impl DefectKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::OffByOne,
        Self::DroppedAwait,
        Self::SwappedArguments,
        Self::RemovedCheck,
        Self::WidenedException,
        Self::LeakedHandle,
        Self::InvertedCondition,
    ];

    /// The name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Self::OffByOne => "off-by-one",
            Self::DroppedAwait => "dropped-await",
            Self::SwappedArguments => "swapped-arguments",
            Self::RemovedCheck => "removed-check",
            Self::WidenedException => "widened-exception",
            Self::LeakedHandle => "leaked-handle",
            Self::InvertedCondition => "inverted-condition",
        }
    }

    /// The category that a reviewer is expected to name.
    pub fn category(self) -> Category {
        match self {
            Self::OffByOne | Self::InvertedCondition => Category::Logic,
            Self::WidenedException => Category::ErrorHandling,
            Self::DroppedAwait
            | Self::SwappedArguments
            | Self::RemovedCheck
            | Self::LeakedHandle => Category::Bug,
        }
    }

    /// The severity.
    pub fn severity(self) -> Severity {
        match self {
            Self::WidenedException | Self::LeakedHandle => Severity::Medium,
            _ => Severity::High,
        }
    }
}

impl std::fmt::Display for DefectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for DefectKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.map(Self::name).into();
            format!("'{text}' is not one of {}", names.join(", "))
        })
    }
}
