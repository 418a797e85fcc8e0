"""Errors and their classification by type and message patterns."""
