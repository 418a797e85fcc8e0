"""The catalog controller: validity and reachability of a catalog."""
