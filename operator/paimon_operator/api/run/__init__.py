"""PaimonRun."""
