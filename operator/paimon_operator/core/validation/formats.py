"""Rules about how files are written: formats, compressions, statistics.

Paimon accepts any text for these options until the first file is written, so a wrong one would fail the first write.
The engine's data lists what each engine can write; `tools/engines/format_probe.py` found it out by writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.table.options import COLUMN_PREFIX, STATS_SUFFIX
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

Options = Mapping[str, str]


@dataclass(frozen=True)
class _Files:
    """One kind of files: the options of its format and its compression, each followed by the option it defaults to."""

    formats: tuple[str, ...]
    compressions: tuple[str, ...]

    @property
    def own_options(self) -> frozenset[str]:
        """The options that apply to these files only."""
        return frozenset({self.formats[0], self.compressions[0]})


_KINDS: Final = (
    _Files(("file.format",), ("file.compression",)),
    _Files(("changelog-file.format", "file.format"), ("changelog-file.compression", "file.compression")),
    _Files(("manifest.format",), ("manifest.compression",)),
)
_SPILLED: Final = ("spill-compression", "lookup.cache-spill-compression")
_STATS_MODES: Final = ("metadata.stats-mode", "changelog-file.stats-mode")
_PER_LEVEL: Final = ".per.level"
_FORMAT, _COMPRESSION = "file.format", "file.compression"
_LEVEL: Final = re.compile(r"\s*([0-9]{1,9})\s*:(.*)", re.DOTALL)
_AVRO: Final = "avro"
"""Avro's codec names are case-sensitive. All other names are not: PARQUET is parquet, ZSTD is zstd."""
_NUMBER: Final = re.compile(r"\([0-9]{1,9}\)")


def formats_of(context: TableContext) -> Iterator[SpecError]:
    """`spec.options`, and the options of each write over them."""
    yield from _problems(context.engine, context.spec.options, context.spec.options, "spec.options")
    for index, write in enumerate(context.spec.writes):
        merged = {**context.spec.options, **write.options}
        yield from _problems(context.engine, merged, write.options, f"spec.writes[{index}].options")


def _problems(engine: Engine, options: Options, given: Options, path: str) -> Iterator[SpecError]:
    """Errors in `options` that are caused by the options `given` at `path`."""
    for files in _KINDS:
        yield from _file_problems(engine, options, given, path, files)
    for level, key, word in _levels(given, _FORMAT):
        yield from _unknown(word, engine.file_formats, f"{path}[{key}]", f"level {level}: ")
    for level in sorted({each for key in (_FORMAT, _COMPRESSION) for each, _, _ in _levels(options, key)}, key=int):
        yield from _level_problem(engine, options, given, path, level)
    for key in _SPILLED:
        if key in given:
            yield from _unknown(given[key], engine.block_compressions, f"{path}[{key}]")
    for key in given:
        of_column = key.startswith(COLUMN_PREFIX) and key.endswith(STATS_SUFFIX)
        if (of_column or key in _STATS_MODES) and _NUMBER.sub("(16)", given[key].lower()) not in engine.stats_modes:
            yield _error(f"{path}[{key}]", repr(given[key]), engine.stats_modes)


def _file_problems(engine: Engine, options: Options, given: Options, path: str, files: _Files) -> Iterator[SpecError]:
    """At most one error about `files`: the compression is checked only if the format is known.

    An error is reported only if one of the files' own options is among `given`, and names that option.
    """
    own = files.own_options & given.keys()
    format_key, spelled = _effective(engine, options, files.formats)
    compressions = engine.file_formats.get(spelled.lower())
    if compressions is None:
        if format_key in own:
            yield _error(f"{path}[{format_key}]", repr(spelled), engine.file_formats)
    elif own:
        yield from _compression_problem(engine, options, given, path, files)


def _compression_problem(
    engine: Engine, options: Options, given: Options, path: str, files: _Files
) -> Iterator[SpecError]:
    """The error for a compression that the files' format does not support; blames the compression if it is given."""
    written = _effective(engine, options, files.formats)[1].lower()
    compression_key, compression = _effective(engine, options, files.compressions)
    supported = engine.file_formats[written]
    if _is_one_of(compression, supported, written):
        return
    option = files.compressions[0] if files.compressions[0] in given else files.formats[0]
    what = repr(compression) if option == compression_key else f"with {compression_key} {compression!r}"
    yield _error(f"{path}[{option}]", what, supported, written)


def _level_problem(engine: Engine, options: Options, given: Options, path: str, level: str) -> Iterator[SpecError]:
    """The error for a compression that the format of this level does not support; none for an unknown format.

    An error is reported only if the format or the compression of this level is among `given`.
    """
    format_key, written = _of_level(engine, options, _FORMAT, level)
    key, word = _of_level(engine, options, _COMPRESSION, level)
    supported = engine.file_formats.get(written.lower())
    given_key = next((each for each in (key, format_key) if each in given), None)
    if given_key is None or supported is None or _is_one_of(word, supported, written.lower()):
        return
    what = repr(word) if given_key == key else f"with {key} {word!r}"
    yield _error(f"{path}[{given_key}]", f"level {level}: {what}", supported, written.lower())


def _effective(engine: Engine, options: Options, keys: tuple[str, ...]) -> tuple[str, str]:
    """The first option of `keys` that is set, and its value; the last one and its default when none is set."""
    for key in keys:
        if key in options:
            return key, options[key]
    option = engine.options.get(keys[-1])
    return keys[-1], (option.default if option else None) or ""


def _of_level(engine: Engine, options: Options, key: str, level: str) -> tuple[str, str]:
    """The option that decides this level's format or compression, and its word."""
    own = [(name, word) for each, name, word in _levels(options, key) if each == level]
    return own[-1] if own else _effective(engine, options, (key,))


def _levels(options: Options, key: str) -> Iterator[tuple[str, str, str]]:
    """Level, option and word of `<key>.per.level` (`0:avro,5:parquet`). Paimon itself refuses other forms."""
    whole = key + _PER_LEVEL
    for part in options.get(whole, "").split(","):
        if found := _LEVEL.fullmatch(part):
            yield found[1], whole, found[2].strip()


def _unknown(word: str, known: Iterable[str], place: str, where: str = "", of: str = "") -> Iterator[SpecError]:
    if not _is_one_of(word, known, of):
        yield _error(place, where + repr(word), known, of)


def _is_one_of(word: str, known: Iterable[str], of: str) -> bool:
    return (word if of == _AVRO else word.lower()) in known


def _error(place: str, what: str, known: Iterable[str], of: str = "") -> SpecError:
    problem = f"{what} cannot be written" + (f" in the format {of}" if of else "")
    words = ", ".join(sorted(known)) or "nothing that this engine can write"
    return SpecError(place, problem, f"Use one of: {words}.")
