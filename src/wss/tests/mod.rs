//! The engine as a whole: against captured exchanges, against itself, against the attacks.

mod attacks;
mod captured;
mod fixture;
mod round_trip;
