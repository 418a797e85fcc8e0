"""What a catalog's observer and the operator say to each other: one request and its answer, as JSON over HTTP.

Reading is strict on the observer's side. The operator reads what it is sent as untrusted: `api/looks.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract.documents import VERSION, Document, DocumentError, read, to_json, to_text
from paimon_contract.job import SAFE_NAME, JobCatalog
from paimon_contract.result import ResultTable

PATH: Final = "/v1/looks"
AUDIENCE: Final = "paimon-operator"
"""Audience of the observer's token. The API server does not accept a token of it."""
MAX_TABLES: Final = 5_000
"""Tables of one answer, and so of one catalog that are observed."""
MAX_REPORTED: Final = 1_000
"""Tables of one request, changed and unchanged ones each. More are reported in several requests."""
MAX_BYTES: Final = 4 << 20
"""Bytes of a request and of an answer."""
MAX_REASON: Final = 256
"""Characters of the reason why a table could not be read."""
HTTP_SCHEME: Final = "http://"


@dataclass(frozen=True, kw_only=True)
class ObserverConfig(Document):
    """How an observer is set up: the variable OBSERVER_CONFIG of its Pod. It holds no secret."""

    version: int = VERSION
    engine: str
    catalog: JobCatalog
    hadoop: dict[str, str] | None = None
    """Options of the HDFS that holds the warehouse. None for any other storage."""
    url: str
    """Where the looks are reported."""
    token_file: str
    interval_seconds: int
    """Seconds from the start of a pass to the start of the next one, until the operator names others."""


@dataclass(frozen=True, kw_only=True)
class TableLook(Document):
    """A table that was found changed, or that the operator asked for. Either `table` or `unknown` is given."""

    uid: str
    """UID of the PaimonTable."""
    table: ResultTable | None = None
    unknown: str | None = None
    """Why it could not be read without a JVM: a clause of at most MAX_REASON characters."""


@dataclass(frozen=True, kw_only=True)
class SameTable(Document):
    """A table in which nothing has changed since it was last reported, with the latest snapshot of that time."""

    uid: str
    snapshot_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class LookRequest(Document):
    """What an observer has found. Without a table it only asks what to look at."""

    version: int = VERSION
    age_seconds: int = 0
    """Seconds since the first of these looks began. The clocks of the two sides need not agree."""
    tables: tuple[TableLook, ...] = ()
    same: tuple[SameTable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TableToLook(Document):
    """A table to look at. `wanted`: the operator has no look at it, so it is reported also if nothing has changed."""

    uid: str
    database: str
    name: str
    wanted: bool | None = None


@dataclass(frozen=True, kw_only=True)
class LookAnswer(Document):
    """What to look at from now on."""

    version: int = VERSION
    interval_seconds: int
    tables: tuple[TableToLook, ...] = ()


def config_text(config: ObserverConfig) -> str:
    """The configuration as a value of an environment variable.

    Kubernetes expands `$(NAME)` there, also to values of Secrets, so no `$` is written as such.
    """
    return to_text(to_json(config)).replace("$", "\\u0024")


def read_config(text: str) -> ObserverConfig:
    """The configuration in `text`. Raises DocumentError for anything but a whole one of this version."""
    config = read(ObserverConfig, _document(text, "config"), "config")
    if not config.url.startswith(HTTP_SCHEME) or config.interval_seconds < 1:
        raise DocumentError("config.url must begin with http:// and config.intervalSeconds be at least 1")
    return config


def request_text(request: LookRequest) -> str:
    """The request as it is sent."""
    return to_text(to_json(request))


def read_answer(text: str | bytes) -> LookAnswer:
    """The answer in `text`. Raises DocumentError for anything but a whole one of this version.

    Also for names that cannot be those of a database or table: they become directories.
    """
    answer = read(LookAnswer, _document(text, "answer"), "answer")
    if answer.interval_seconds < 1 or len(answer.tables) > MAX_TABLES:
        raise DocumentError("answer.intervalSeconds or answer.tables is out of bounds")
    for each in answer.tables:
        if not SAFE_NAME.fullmatch(each.database) or not SAFE_NAME.fullmatch(each.name):
            raise DocumentError(f"answer.tables: {each.database[:60]!r}.{each.name[:60]!r} is no name of a table")
    return answer


def _document(text: str | bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{where} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise DocumentError(f"{where} is not of version {VERSION}")
    return document
