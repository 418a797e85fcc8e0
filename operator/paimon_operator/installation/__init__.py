"""Checks an installation: the rights that the operator needs and has."""
