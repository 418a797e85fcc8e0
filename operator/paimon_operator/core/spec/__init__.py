"""The meaning of a manifest: effective settings, Paimon options, types, the desired table."""
