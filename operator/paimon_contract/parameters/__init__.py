"""Parameters of the operations, one module each. The module's name is the operation's in snake_case."""
