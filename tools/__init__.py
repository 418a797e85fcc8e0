"""Build-time programs; no part of any image."""
