"""The table controller: which run a table needs next, and its conditions."""
