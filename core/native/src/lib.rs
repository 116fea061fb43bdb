//! A Redis connection of its own.
