"""One file per operation on a table. `registry` finds them; nothing else names one."""
