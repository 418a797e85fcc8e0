"""Entry point of every driver and its report."""
