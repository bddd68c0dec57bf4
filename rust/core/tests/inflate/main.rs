//! Compressed sources: round trips, reads at any offset, saved seek points, damage.
mod damage;
mod data;
mod fixed;
mod flips;
mod saved;
mod seek;
mod threads;
