"""`python -m paimon_operator.export`: manifests for the tables of a catalog that exist."""
