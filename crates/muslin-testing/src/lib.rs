//! Random numbers for tests and validation: the same ones from the same seed, on every machine.
//!
//! The crate depends on nothing, not even on `muslin`, so that the unit tests of `muslin` can use it.

use std::marker::PhantomData;

/// The generator xorshift64* [Marsaglia 2003; Vigna 2016]. `V` is the type of its vectors.
///
/// ```
/// let mut random = muslin_testing::Random::<[f64; 3]>::new(7);
/// assert!(random.vector().iter().all(|x| (-1.0..1.0).contains(x)));
/// ```
#[derive(Clone, Debug)]
pub struct Random<V> {
    state: u64,
    vectors: PhantomData<V>,
}

impl<V> Random<V> {
    /// Starts at a seed. The state may not be 0, so an even seed gives the numbers of the odd one after it.
    pub fn new(seed: u64) -> Self {
        Self { state: seed | 1, vectors: PhantomData }
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A whole number in [0, end).
    pub fn below(&mut self, end: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(end)) >> 32) as u32
    }

    /// A permutation of 0 … count − 1 [Fisher, Yates 1938].
    pub fn permutation(&mut self, count: usize) -> Vec<u32> {
        let mut items: Vec<u32> = (0..count as u32).collect();
        for i in (1..count).rev() {
            items.swap(i, (self.bits() % (i as u64 + 1)) as usize);
        }
        items
    }
}

impl<V: From<[f64; 3]>> Random<V> {
    /// Uniform in the cube [−1, 1)³.
    pub fn vector(&mut self) -> V {
        V::from([self.signed(), self.signed(), self.signed()])
    }

    /// `count` vectors.
    pub fn vectors(&mut self, count: usize) -> Vec<V> {
        (0..count).map(|_| self.vector()).collect()
    }
}

#[cfg(test)]
mod tests {
    type Random = super::Random<[f64; 3]>;

    #[test]
    fn a_seed_gives_its_numbers() {
        let numbers = |seed: u64| [0; 3].map(|_: u8| seed).map(|seed| Random::new(seed).bits());
        assert_eq!(numbers(1), [numbers(1)[0]; 3], "it repeats");
        assert_ne!(numbers(1), numbers(3), "another seed, other numbers");
        // The reference: x = 1 gives x = 0x2000001 after its shifts.
        assert_eq!(Random::new(1).bits(), 0x0200_0001_u64.wrapping_mul(0x2545_F491_4F6C_DD1D));
    }

    #[test]
    fn numbers_are_uniform_in_their_ranges() {
        let mut random = Random::new(5);
        let (count, mut sums, mut seen) = (100_000, [0.0; 2], [0_u32; 7]);
        for _ in 0..count {
            let (unit, signed) = (random.unit(), random.signed());
            assert!((0.0..1.0).contains(&unit) && (-1.0..1.0).contains(&signed), "{unit} {signed}");
            sums = [sums[0] + unit, sums[1] + signed];
            seen[random.below(7) as usize] += 1;
        }
        // Four deviations of a mean: 4/√(12 n) and 4/√(3 n).
        let n = f64::from(count);
        assert!((sums[0] / n - 0.5).abs() < 4.0 / (12.0 * n).sqrt(), "{}", sums[0] / n);
        assert!((sums[1] / n).abs() < 4.0 / (3.0 * n).sqrt(), "{}", sums[1] / n);
        let share = n / 7.0;
        assert!(seen.iter().all(|&seen| (f64::from(seen) - share).abs() < 4.0 * share.sqrt()), "{seen:?}");
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut items = Random::new(3).permutation(100);
        assert!(!items.is_sorted(), "{items:?}");
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<u32>>());
        assert_eq!(Random::new(3).permutation(0), [0; 0]);
    }
}
