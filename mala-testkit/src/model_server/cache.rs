//! The prompt cache of a provider: which prompt prefixes were seen before. A token is four bytes.
//! OpenAI and Google cache every prefix, Anthropic only those that a request marks. Minimum sizes
//! and expiry are not modelled.

use super::request::ModelRequest;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// How much of all prompts was cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCount {
    /// The number of prompts.
    pub prompts: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Tokens that were part of an earlier prefix.
    pub cached: u64,
}

impl CacheCount {
    /// The cached share of all tokens.
    pub fn ratio(&self) -> f64 {
        self.cached as f64 / self.tokens.max(1) as f64
    }
}

/// The tokens of one prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct PromptTokens {
    pub(super) all: u64,
    pub(super) read: u64,
    pub(super) written: u64,
}

#[derive(Debug, Default)]
pub(super) struct Cache {
    beginnings: HashSet<[u8; 32]>,
    count: CacheCount,
}

impl Cache {
    pub(super) fn count(&self) -> CacheCount {
        self.count
    }

    /// Counts a prompt and caches its prefixes.
    pub(super) fn take(&mut self, request: &ModelRequest) -> PromptTokens {
        let mut hash = Sha256::new();
        hash.update(request.model());
        let (mut bytes, mut read, mut kept) = (0, 0, 0);
        for (piece, is_kept) in request.pieces() {
            hash.update((piece.len() as u64).to_le_bytes());
            hash.update(&piece);
            bytes += piece.len() as u64;
            let beginning: [u8; 32] = hash.clone().finalize().into();
            if self.beginnings.contains(&beginning) {
                read = bytes;
            }
            if is_kept {
                kept = bytes;
                self.beginnings.insert(beginning);
            }
        }
        let counted = PromptTokens {
            all: bytes.div_ceil(4),
            read: read / 4,
            written: (kept.saturating_sub(read)) / 4,
        };
        self.count.prompts += 1;
        self.count.tokens += counted.all;
        self.count.cached += counted.read;
        counted
    }
}
