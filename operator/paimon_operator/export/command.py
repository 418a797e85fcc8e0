"""The command of the export. It asks no API server and needs no rights: what it reads is a log, or files.

From the log of a run of type Describe:
    kubectl logs paimon-run-describe-lake-1 | python -m paimon_operator.export
From the files of a warehouse:
    python -m paimon_operator.export --warehouse /data/warehouse --catalog lake.yaml
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TextIO

import yaml
from pydantic import ValidationError

from paimon_contract.description import DescribedTable, read_description
from paimon_contract.documents import DocumentError
from paimon_engines.engine import Engine
from paimon_engines.loader import load_engines
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.export.export import export
from paimon_operator.core.spec.identity import allowed_databases
from paimon_operator.export.page import page_of
from paimon_operator.export.warehouse import described_tables

_USAGE_ERROR: Final = 2


class InputError(Exception):
    """What was given cannot be exported. The message says what to give."""


def main(arguments: Sequence[str], source: TextIO, target: TextIO, messages: TextIO) -> int:
    """Prints the manifests. Exit codes: 0 done, also if some tables have none; 2 wrong arguments or input."""
    given = _parser().parse_args(arguments)
    try:
        catalog, engine, tables = _from_files(given) if given.warehouse else _from_log(source)
    except (InputError, DocumentError, OSError) as error:
        messages.write(f"{error}\n")
        return _USAGE_ERROR
    found = [export(each, catalog, engine, datetime.now(UTC)) for each in tables]
    page = page_of(found, catalog, owned=given.owned)
    target.write(page.text)
    messages.write(f"{page.summary}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paimon_operator.export",
        description="Prints a PaimonTable for every table of a catalog that exists. Reads the log of a run of type "
        "Describe from standard input, or the files of a warehouse.",
    )
    parser.add_argument("--warehouse", metavar="DIRECTORY", type=Path, help="the warehouse, as a local directory")
    parser.add_argument("--catalog", metavar="FILE", type=Path, help="with --warehouse: manifest of the PaimonCatalog")
    parser.add_argument("--engine", help="with --warehouse: engine of a catalog that names none (default: the newest)")
    parser.add_argument("--owned", action="store_true", help="manifests also for tables that a PaimonTable owns")
    return parser


def _from_log(source: TextIO) -> tuple[PaimonCatalog, Engine, Sequence[DescribedTable]]:
    description = read_description(source)
    catalog = _catalog(json.loads(description.catalog))
    return catalog, _engine(description.engine), description.tables


def _from_files(given: argparse.Namespace) -> tuple[PaimonCatalog, Engine, Sequence[DescribedTable]]:
    if given.catalog is None:
        raise InputError("--warehouse needs --catalog: a file with the manifest of the PaimonCatalog")
    catalog = _catalog(yaml.safe_load(given.catalog.read_text(encoding="utf-8")))
    engine = _engine(catalog.spec.engine or given.engine or list(load_engines())[-1])
    return catalog, engine, list(described_tables(given.warehouse, allowed_databases(catalog)))


def _catalog(document: object) -> PaimonCatalog:
    try:
        return PaimonCatalog.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"this is no PaimonCatalog of this release: {where}: {first['msg']}") from error


def _engine(name: str) -> Engine:
    engines = load_engines()
    if name not in engines:
        raise InputError(f"there is no engine {name!r} here: use the operator's image of the same release")
    return engines[name]
