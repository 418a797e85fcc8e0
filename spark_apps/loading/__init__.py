"""Loading of input files: selection, casts, ledger, recovery."""
