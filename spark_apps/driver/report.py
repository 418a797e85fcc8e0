"""The result document, so that it fits into what Kubernetes keeps of a termination message."""

from __future__ import annotations

import json
from typing import Any, Final

from spark_apps.contract import MAX_RESULT_BYTES, VERSION, Job, to_json
from spark_apps.failures.errors import RunError

LEFT: Final = {"message": 200, "remedy": 0}
"""Characters that are left of each in any case; the first is shortened first."""


def document_of(job: Job, told: dict[str, Any], failure: RunError | None, elapsed: dict[str, int]) -> dict[str, Any]:
    """The result document of a job; `told` is what it has seen and done. The log has what is shortened here."""
    document = {
        "version": VERSION,
        "run": job.run.name,
        "operation": job.operation,
        "ok": failure is None,
        **told,
        "ms": elapsed,
    }
    if failure:
        document["error"] = to_json(failure.as_result())
    while _too_long(document) and document.get("differences"):
        document["differences"] = document["differences"][:-1]
    for part, least in LEFT.items():
        _shorten(document, part, least)
    return document


def text_of(document: dict[str, Any]) -> str:
    """The document as it is reported."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _shorten(document: dict[str, Any], part: str, least: int) -> None:
    text = document.get("error", {}).get(part, "")
    while _too_long(document) and len(text) > least:
        text = text[:-1]
        document["error"][part] = text + "…"


def _too_long(document: dict[str, Any]) -> bool:
    return len(text_of(document).encode()) > MAX_RESULT_BYTES
