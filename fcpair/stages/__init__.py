"""The stages: pure functions on arrays, frames and records; randomness only through a seed."""
