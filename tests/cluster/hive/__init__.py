"""A Hive metastore server for tests."""
