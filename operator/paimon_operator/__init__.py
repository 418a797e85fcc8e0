"""Kubernetes operator for Apache Paimon tables."""
