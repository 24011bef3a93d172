//! To come.
use crate::Test;
/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[];
