"""Rules that a manifest must satisfy, beyond what the API server checks."""
