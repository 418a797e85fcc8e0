"""PaimonTable."""
