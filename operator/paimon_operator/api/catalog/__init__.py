"""PaimonCatalog."""
