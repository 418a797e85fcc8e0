"""Column types and the differences between two tables."""
