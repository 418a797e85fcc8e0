"""Fetches the engines' jars, generates their data, trains the class-data archive."""
