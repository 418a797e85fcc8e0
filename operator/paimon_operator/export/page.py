"""The file of an export: manifests first, then, as comments, the tables that need a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import yaml

from paimon_operator.api.base import Json, printable
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.export.export import Export


@dataclass(frozen=True)
class Page:
    """The text of the file, and one line about it."""

    text: str
    summary: str


def page_of(exports: Iterable[Export], catalog: PaimonCatalog, *, owned: bool) -> Page:
    """The file. A table that a PaimonTable owns is a comment too, unless `owned` asks for its manifest."""
    found = list(exports)
    ready = [each for each in found if not each.problems and (owned or each.owner is None)]
    rest = [each for each in found if each not in ready]
    summary = f"{len(found)} tables: {len(ready)} manifests, {len(rest)} as comments"
    head = [f"{summary}. PaimonCatalog {catalog.metadata.name}, namespace {catalog.metadata.namespace}."]
    head.append("Comments are tables that a manifest would alter, or cannot describe: see docs/adopt.md.")
    head.extend(_about_owned(each for each in rest if not each.problems))
    parts = [_commented(head), *map(_manifest, ready), *map(_decision, rest)]
    return Page("\n".join(parts), summary)


def _about_owned(of: Iterable[Export]) -> Iterator[str]:
    """How to get the manifests of tables that are comments because of their owner alone."""
    count = len(list(of))
    if count:
        yield f"{count} of them have an owner, which is a PaimonTable: --owned makes manifests of those."


def _manifest(of: Export) -> str:
    return f"---\n{_commented(_notes(of))}{_yaml(of.manifest or {})}"


def _decision(of: Export) -> str:
    """A table as comments: the reasons, and the manifest as it would be."""
    lines = [f"not exported: {of.database}.{of.table}", *_reasons(of), *_notes(of)]
    if of.manifest is not None:
        lines += ["---", *_yaml(of.manifest).splitlines()]
    return _commented(lines)


def _reasons(of: Export) -> Iterator[str]:
    for each in of.problems:
        yield f"{each.field}: {each.problem}. {each.remedy}"
    if not of.problems:
        yield "The PaimonTable below owns it. If that one is gone, export again with --owned."


def _notes(of: Export) -> Iterator[str]:
    if of.owner is not None:
        cluster, _, name = of.owner.partition("/")
        yield f"owner: PaimonTable {name or of.owner}, cluster {cluster}"
    if of.kept:
        yield f"stays in the table, no option of Paimon: {', '.join(of.kept)}"


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"# {printable(line)}".rstrip() + "\n" for line in lines)


def _yaml(manifest: Json) -> str:
    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
    return text
