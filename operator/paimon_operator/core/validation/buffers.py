"""Rules about the memory of a write: Paimon checks it when the first row is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from paimon_engines.values import size_in_bytes
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.option_values import value_problem
from paimon_operator.errors import SpecError

_BUFFER, _PAGE, _FOR_APPEND = "write-buffer-size", "page-size", "write-buffer-for-append"
_PAGES_OF_KEYED: Final = 3
"""SortBufferWriteBuffer: "Write buffer requires a minimum of 3 page memory"."""


def buffers_of(context: TableContext) -> Iterator[SpecError]:
    """`spec.options`, and the options of each write over them."""
    yield from _problems(context, context.spec.options, context.spec.options, "spec.options")
    for index, write in enumerate(context.spec.writes):
        merged = {**context.spec.options, **write.options}
        yield from _problems(context, merged, write.options, f"spec.writes[{index}].options")


def _problems(
    context: TableContext, options: Mapping[str, str], given: Mapping[str, str], path: str
) -> Iterator[SpecError]:
    """The error of a buffer without room for its pages, if one of the two sizes is among those `given` at `path`."""
    key = next((each for each in (_BUFFER, _PAGE) if each in given), None)
    pages = _pages(context, options)
    if key is None or pages == 0 or not all(_is_valid(context, options, each) for each in (_BUFFER, _PAGE)):
        return
    buffer, page = (size_in_bytes(_effective(context, options, each)) for each in (_BUFFER, _PAGE))
    if buffer is not None and page is not None and buffer < pages * page:
        yield SpecError(
            f"{path}[{key}]",
            f"{_BUFFER} {_effective(context, options, _BUFFER)!r} has no room for {pages} pages of {_PAGE} "
            f"{_effective(context, options, _PAGE)!r}",
            f"Set {_BUFFER} to at least {pages * page // 1024} kb.",
        )


def _pages(context: TableContext, options: Mapping[str, str]) -> int:
    """Fewest pages of the buffer; 0 for a table whose writes have no buffer."""
    if context.spec.table_schema.primary_keys:
        return _PAGES_OF_KEYED
    return 1 if options.get(_FOR_APPEND, "").lower() == "true" else 0


def _is_valid(context: TableContext, options: Mapping[str, str], key: str) -> bool:
    option = context.engine.options.get(key)
    return option is not None and value_problem(option, _effective(context, options, key)) is None


def _effective(context: TableContext, options: Mapping[str, str], key: str) -> str:
    option = context.engine.options.get(key)
    return options.get(key) or (option.default if option else None) or ""
