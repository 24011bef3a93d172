//! `muslin bench`.
use crate::args::BenchArguments;
use crate::failure::Failure;
pub(super) fn bench(_arguments: &BenchArguments) -> Result<(), Failure> {
    Ok(())
}
