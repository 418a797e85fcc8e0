"""Quoting: the only place where names and values become SQL text."""

from __future__ import annotations

CATALOG = "paimon"
"""Name of the catalog in a Spark session."""

PARSER_OPTIONS = {"spark.sql.variable.substitute": "false", "spark.sql.parser.escapedStringLiterals": "false"}
"""Settings that quoting depends on: by default Spark replaces ${name} in any text, quoted or not."""

SqlValue = str | int | bool


def quote(name: str) -> str:
    """`name` as one part of an identifier, whatever characters it holds."""
    return "`" + name.replace("`", "``") + "`"


def qualified(*parts: str) -> str:
    """An identifier of several parts, each quoted."""
    return ".".join(quote(part) for part in parts)


def literal(value: SqlValue) -> str:
    """`value` as a SQL literal that Spark reads back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def call(procedure: str, arguments: dict[str, SqlValue | None]) -> str:
    """The CALL of a procedure with named arguments; those that are None are left out."""
    given = ", ".join(f"{quote(name)} => {literal(value)}" for name, value in arguments.items() if value is not None)
    return f"CALL {qualified(CATALOG, 'sys', procedure)}({given})"
