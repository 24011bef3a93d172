//! What changes in time.

use crate::math::Vec3;

/// Positions and velocities at one instant; clone it to snapshot, assign it to rewind.
///
/// Vertices are in the model's own order, which is chosen for cache locality;
/// [`Simulation::positions`](crate::Simulation::positions) gives them in the order of the user's mesh.
/// Numbers are `f64`, whatever the precision of the solver: single precision goes through them unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// In m.
    pub positions: Vec<Vec3<f64>>,
    /// In m/s.
    pub velocities: Vec<Vec3<f64>>,
    /// In s.
    pub time: f64,
    /// What a solver that looks back more than one step carries from frame to frame; empty for the others, and at the
    /// start of a run.
    pub history: Vec<Vec3<f64>>,
}

impl State {
    /// A fingerprint of the exact bits (FNV-1a over positions, velocities, history and time).
    pub fn hash(&self) -> u64 {
        let vectors = self.positions.iter().chain(&self.velocities).chain(&self.history).flat_map(|v| v.to_array());
        fnv1a(vectors.chain([self.time]).flat_map(|number| number.to_bits().to_le_bytes()))
    }

    /// The first vertex with a position or velocity that is not finite.
    pub fn first_non_finite(&self) -> Option<usize> {
        self.positions.iter().zip(&self.velocities).position(|(x, v)| !x.is_finite() || !v.is_finite())
    }
}

/// FNV-1a, 64 bits: a fingerprint that is the same in every version and on every machine, which the standard library's
/// hashes do not promise. It finds accidents, not attacks.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_has_the_published_values() {
        // Fowler, Noll, Vo: test vectors of the reference implementation.
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_hash_sees_every_bit() {
        let state =
            State { positions: vec![Vec3::ZERO; 2], velocities: vec![Vec3::ZERO; 2], time: 0.0, history: Vec::new() };
        let mut other = state.clone();
        other.velocities[1].z = -0.0;
        assert_ne!(state.hash(), other.hash());
        assert_eq!(state.hash(), state.clone().hash());
    }
}
