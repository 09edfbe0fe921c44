//! A reproducible random number generator (SplitMix64): the same seed gives the same numbers on every machine
//! and in every version.

/// A stream of numbers that follows from its seed.
#[derive(Debug, Clone)]
pub struct SeededRandom {
    state: u64,
}

impl SeededRandom {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The random stream of this seed for one name.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a: similar names get independent streams.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut stream = Self::new(seed ^ hash);
        stream.state = stream.number();
        stream
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the bound; 0 when the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high bits of a product are even enough: bounds are far below 2^64.
        let wide = u128::from(self.number()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Heads or tails.
    pub fn flip(&mut self) -> bool {
        self.number() >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_a_promise() {
        let mut stream = SeededRandom::new(0);
        assert_eq!(
            [stream.number(), stream.number()],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        );
        assert_ne!(SeededRandom::named(0, "a").number(), SeededRandom::named(0, "b").number());
        assert_ne!(SeededRandom::named(0, "a").number(), SeededRandom::named(1, "a").number());
    }

    #[test]
    fn numbers_are_even() {
        let mut stream = SeededRandom::new(7);
        let mut seen = [0; 10];
        for _ in 0..10_000 {
            seen[stream.below(10)] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        let mean = (0..10_000).map(|_| stream.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let heads = (0..10_000).filter(|_| stream.flip()).count();
        assert!((4_800..5_200).contains(&heads), "{heads}");
        assert_eq!(stream.below(0), 0);
    }
}
