"""The chain of causes of an exception, across Python and Java."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from spark_apps.failures.errors import MAX_MESSAGE

MAX_CAUSES: Final = 20
"""Causes that are read at most: a cause may lead back to itself."""


def causes_of(error: BaseException) -> Iterator[str]:
    """`class: message` of the exception and of each cause, outermost first; the class alone where there is no message.

    PostgreSQL's messages begin with their SQL state.
    """
    java = _java_exception(error)
    if java is None:
        yield f"{type(error).__name__}: {error}"
        return
    for _ in range(MAX_CAUSES):
        name, message = java.getClass().getName(), java.getMessage()
        state = f"[{java.getSQLState()}] " if name.endswith("PSQLException") else ""
        yield f"{name}: {state}{message}" if message else name
        java = java.getCause()
        if java is None:
            return


def is_caused_by(error: BaseException, *class_names: str) -> bool:
    """Whether a Java exception whose class ends with one of `class_names` is in the chain of causes."""
    return any(line.split(":", 1)[0].endswith(class_names) for line in causes_of(error))


def root_message(error: BaseException) -> str:
    """The message of the innermost cause, without its class, on one line."""
    return first_line(list(causes_of(error))[-1]).partition(": ")[2] or str(error).split("\n", 1)[0]


def first_line(text: str) -> str:
    """The first line with text, at most MAX_MESSAGE characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):  # Spark's parser puts only its class into the first
        lines[0] += f" {lines[1]}"
    return lines[0][:MAX_MESSAGE] if lines else text


def _java_exception(error: BaseException) -> Any:
    """The Java exception, which py4j and pyspark hide in different attributes."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)
