"""The result document, so that it fits into what Kubernetes keeps of a termination message."""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.documents import to_json, to_text
from paimon_contract.job import Job
from paimon_contract.result import MAX_RESULT_BYTES, Elapsed, Outcome, Result, Seen
from spark_apps.failures.errors import RunError

LEFT: Final = {"message": 200, "remedy": 0}
"""Characters that are left of each in any case; the first is shortened first."""


def document_of(job: Job, seen: Seen, outcome: Outcome, failure: RunError | None, elapsed: Elapsed) -> dict[str, Any]:
    """The result document of a job. The log has what is shortened here."""
    result = Result(
        run=job.run.name,
        operation=job.operation,
        ok=failure is None,
        **vars(seen),
        **vars(outcome),
        ms=elapsed,
        error=failure.as_result() if failure else None,
    )
    document = {key: value for key, value in to_json(result).items() if value != []}
    while _too_long(document) and document.get("table", {}).get("pins"):
        document["table"]["pins"] = document["table"]["pins"][:-1]
    while _too_long(document) and document.get("differences"):
        document["differences"] = document["differences"][:-1]
    while _too_long(document) and document.get("plan", {}).get("steps"):
        document["plan"]["steps"] = document["plan"]["steps"][:-1]
    for part in ("takenBack", "changes"):
        while _too_long(document) and document.get("drift", {}).get(part):
            document["drift"][part] = document["drift"][part][:-1]
    for part, least in LEFT.items():
        _shorten(document, part, least)
    return document


def _shorten(document: dict[str, Any], part: str, least: int) -> None:
    text = document.get("error", {}).get(part, "")
    while _too_long(document) and len(text) > least:
        text = text[:-1]
        document["error"][part] = text + "…"


def _too_long(document: dict[str, Any]) -> bool:
    return len(to_text(document).encode()) > MAX_RESULT_BYTES
