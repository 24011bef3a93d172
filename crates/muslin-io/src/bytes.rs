//! Numbers as little-endian bytes, whatever the machine.

/// Appends the values, 4 bytes each.
pub(crate) fn extend_f32(bytes: &mut Vec<u8>, values: &[f32]) {
    let start = bytes.len();
    bytes.resize(start + 4 * values.len(), 0);
    // Filled in place: this compiles to one copy, where extending by an iterator checks the capacity at each byte.
    for (slot, value) in bytes[start..].chunks_exact_mut(4).zip(values) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
}

/// Appends the values, 4 bytes each.
pub(crate) fn extend_u32(bytes: &mut Vec<u8>, values: &[u32]) {
    let start = bytes.len();
    bytes.resize(start + 4 * values.len(), 0);
    for (slot, value) in bytes[start..].chunks_exact_mut(4).zip(values) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
}

/// Replaces `positions` by those in `bytes`, 12 bytes each; an incomplete one at the end is left out.
pub(crate) fn read_positions(bytes: &[u8], positions: &mut Vec<[f32; 3]>) {
    positions.clear();
    positions.extend(bytes.chunks_exact(12).map(|p| {
        [
            f32::from_le_bytes([p[0], p[1], p[2], p[3]]),
            f32::from_le_bytes([p[4], p[5], p[6], p[7]]),
            f32::from_le_bytes([p[8], p[9], p[10], p[11]]),
        ]
    }));
}
