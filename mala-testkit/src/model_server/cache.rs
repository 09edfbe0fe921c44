//! The provider's prompt cache: which beginnings of prompts were seen before. A token is four bytes
//! here. OpenAI and Google keep every beginning, Anthropic only those that a request marks; what real
//! providers add (a least size, an expiry) is left out.

use super::request::ModelRequest;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// How much of all prompts began like an earlier one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCount {
    /// Prompts.
    pub prompts: u64,
    /// Their tokens.
    pub tokens: u64,
    /// The tokens that an earlier prompt began with.
    pub cached: u64,
}

impl CacheCount {
    /// The cached part of all tokens.
    pub fn ratio(&self) -> f64 {
        self.cached as f64 / self.tokens.max(1) as f64
    }
}

/// The tokens of one prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
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

    /// Counts a prompt and keeps its beginnings.
    pub(super) fn take(&mut self, request: &ModelRequest) -> Counted {
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
        let counted = Counted {
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
