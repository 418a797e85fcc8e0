"""Manifests for tables that exist, as far as a manifest can say what they are."""
