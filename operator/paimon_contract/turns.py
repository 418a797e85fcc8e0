"""Turns: one driver Pod performs the jobs of several runs, and asks the operator before each of them.

The jobs stand in the Pod's own variables, which nobody can change any more. A few threads of the driver perform them. A
request reports the result of a thread's last turn and asks for its next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract.documents import VERSION, Document, DocumentError, read, to_json, to_text
from paimon_contract.environment import BATCH_JOB

PATH: Final = "/v1/turns"
MAX_JOBS: Final = 50
"""Jobs of one Pod."""
TURNS_AT_ONCE: Final = 8
"""Runs of one Pod that are in their turns at the same time, each of another table."""
MAX_JOB_BYTES: Final = 64 << 10
"""Bytes of one job that may share a Pod. Linux takes 128 KiB for one variable."""
MAX_JOBS_BYTES: Final = 512 << 10
"""Bytes of all jobs of a Pod. etcd takes 1.5 MiB for an object."""
MAX_BYTES: Final = 16 << 10
"""Bytes of a request and of an answer."""
HTTP_SCHEME: Final = "http://"


@dataclass(frozen=True, kw_only=True)
class BatchConfig(Document):
    """How the driver of a batch is set up: the variable BATCH_CONFIG of its Pod. It holds no secret."""

    version: int = VERSION
    url: str
    """Where turns are asked for."""
    token_file: str
    seconds: int
    """No turn begins later than so many seconds after the driver's start."""
    launch_hash: str
    """What the jobs have in common besides the catalog: image, account, size and storage access."""


@dataclass(frozen=True, kw_only=True)
class TurnOf(Document):
    """The run of a turn."""

    name: str
    uid: str


@dataclass(frozen=True, kw_only=True)
class TurnReport(Document):
    """The end of a turn."""

    run: TurnOf
    result: str
    """The result document, as it would stand in the termination message."""


@dataclass(frozen=True, kw_only=True)
class TurnRequest(Document):
    """What a driver asks. It repeats the same request until it has the answer."""

    version: int = VERSION
    report: TurnReport | None = None
    next: TurnOf | None = None
    """The run whose turn shall begin; None: the driver only reports."""


@dataclass(frozen=True, kw_only=True)
class TurnAnswer(Document):
    """The report is stored. `begin`: the turn begins now; otherwise this Pod does not perform the run."""

    version: int = VERSION
    begin: bool


def config_text(config: BatchConfig) -> str:
    """The configuration as the value of a variable."""
    return variable_text(to_text(to_json(config)))


def variable_text(document: str) -> str:
    """A JSON document as the value of a variable. Kubernetes expands `$(NAME)` there, so no `$` is written as such."""
    return document.replace("$", "\\u0024")


def read_config(text: str) -> BatchConfig:
    """The configuration in `text`. Raises DocumentError for anything but a whole one of this version."""
    config = read(BatchConfig, _document(text, "config"), "config")
    if not config.url.startswith(HTTP_SCHEME) or config.seconds < 1:
        raise DocumentError("config.url must begin with http:// and config.seconds be at least 1")
    return config


def job_variable(number: int) -> str:
    """The variable with the job of this number, from 0."""
    return f"{BATCH_JOB}_{number}"


def job_texts(environment: Mapping[str, str]) -> Iterator[str]:
    """The jobs in the variables of a Pod, in their order."""
    for number in range(MAX_JOBS):
        text = environment.get(job_variable(number))
        if text is None:
            return
        yield text


def request_text(request: TurnRequest) -> str:
    """The request as it is sent."""
    return to_text(to_json(request))


def read_request(text: str | bytes) -> TurnRequest:
    """The request in `text`. Raises DocumentError for anything but a whole one of this version."""
    return read(TurnRequest, _document(text, "request"), "request")


def answer_text(answer: TurnAnswer) -> str:
    """The answer as it is sent."""
    return to_text(to_json(answer))


def read_answer(text: str | bytes) -> TurnAnswer:
    """The answer in `text`. Raises DocumentError for anything but a whole one of this version."""
    return read(TurnAnswer, _document(text, "answer"), "answer")


def _document(text: str | bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{where} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise DocumentError(f"{where} is not of version {VERSION}")
    return document
