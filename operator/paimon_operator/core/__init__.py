"""The operator's decisions: pure functions without clock or I/O."""
