"""Spark applications that act on one Paimon table each: JSON job in, result JSON out."""
