"""The kinds of metastore."""
