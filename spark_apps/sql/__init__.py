"""SQL text: quoted identifiers and partition predicates."""
