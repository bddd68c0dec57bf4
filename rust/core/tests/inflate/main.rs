//! Tests of compressed sources: round trips, reads at any offset, saved seek points and damage.
mod damage;
mod data;
mod fixed;
mod flips;
mod saved;
mod seek;
