"""Measured figures, side by side in one run."""
