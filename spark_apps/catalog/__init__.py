"""The Paimon catalog as a driver uses it: session, ownership, snapshots, metastores."""
