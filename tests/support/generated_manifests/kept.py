"""The kept list of generated manifests: `python -m tests.support.generated_manifests.kept FILE` writes it.

A line has the number of a manifest, its digest, and per engine `accepted` or the first field that is refused. Half of
the manifests are accepted by the newest engine. The others have one or two mistakes, or are no document of the schema.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.generated_manifests.generator import manifest
from tests.support.manifests import Manifest

FILE: Final = Path(__file__).with_name("kept.txt")
ENGINES: Final = ("paimon-0.9", "paimon-1.4")
COUNT: Final = 500
ACCEPTED: Final = "accepted"
MOST_MISTAKES: Final = 2


@dataclass(frozen=True)
class Judged:
    """A manifest, and what the operator's own rules say of it."""

    context: TableContext | None
    """None: it is no document of the schema."""
    errors: tuple[SpecError, ...] = ()
    field: str = ""
    """First field that is refused. Empty: the manifest is accepted."""


def judge(document: Manifest, engine: str) -> Judged:
    """Judges a manifest in a catalog of the engine."""
    try:
        table = PaimonTable.model_validate(document)
    except ValidationError as error:
        return Judged(None, field=".".join(str(step) for step in error.errors()[0]["loc"]))
    context = builders.context(table, builders.catalog(engine=engine))
    errors = broken_rules(context)
    return Judged(context, errors, errors[0].field if errors else "")


def kept() -> list[int]:
    """Numbers of the kept manifests."""
    return [int(line.split()[0]) for line in FILE.read_text(encoding="utf-8").splitlines()]


def line(number: int) -> str:
    """The line of one manifest."""
    document = manifest(number)
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:12]
    verdicts = (judge(document, engine).field or ACCEPTED for engine in ENGINES)
    return " ".join((str(number), digest, *verdicts))


def _chosen() -> Iterator[int]:
    left = {True: COUNT // 2, False: COUNT - COUNT // 2}
    for number in itertools.count():
        judged = judge(manifest(number), ENGINES[-1])
        accepted = not judged.field
        if left[accepted] and len(judged.errors) <= MOST_MISTAKES:
            left[accepted] -= 1
            yield number
        if not any(left.values()):
            return


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(line(number) + "\n" for number in _chosen()), encoding="utf-8")
