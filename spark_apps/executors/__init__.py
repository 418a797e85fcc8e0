"""Executors of a driver in mode Cluster."""
