"""Random scenarios from a seed, and whether every language and store agrees on them, step by step, whole results."""
