"""The API server's audit log: every request once (who, verb, object, answer).

Writes are logged with their body, so that a deleted object can still be searched for a secret. Writes of Secrets and
of tokens are logged without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "resources": [{"group": "", "resources": ["secrets"]}, {"group": "authentication.k8s.io"}],
        },
        {"level": "Request", "verbs": ["create", "update", "patch"]},
        {"level": "Metadata"},
    ],
}


FAILED_TEST = "the server rejected our request due to an error in our request"
"""The message for a failed `test` of a JSON patch: the object has changed. The code is 422, as for a wrong object."""


@dataclass(frozen=True)
class AuditedRequest:
    """One finished request; a watch appears twice (`ResponseStarted`, and `ResponseComplete` when it ends)."""

    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    user_agent: str
    code: int
    stage: str
    received: str
    """RFC 3339 with microseconds: sorts as text."""
    message: str = ""
    """The API server's reason for a refusal."""


def audit_flags(directory: Path) -> list[str]:
    """Writes the policy into `directory` and returns the API server's flags; the log is `directory/audit.log`.

    Mode blocking: a request is in the file before its answer is sent, so a test never waits for its own request.
    """
    policy = directory / "audit-policy.yaml"
    policy.write_text(yaml.safe_dump(POLICY))
    return [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={directory / 'audit.log'}",
        "--audit-log-mode=blocking",
        "--audit-log-maxsize=1000",
    ]


def audited_requests(log: Path, *, offset: int = 0) -> Iterator[AuditedRequest]:
    """Yields the requests of an audit log from the byte `offset` on (its size at an earlier moment)."""
    with log.open("rb") as file:
        file.seek(offset)
        for line in file:
            if line.endswith(b"\n"):  # the last line may still be in writing
                yield _request(json.loads(line))


def _request(event: dict[str, object]) -> AuditedRequest:
    target, user, answer = (_mapping(event.get(key)) for key in ("objectRef", "user", "responseStatus"))
    return AuditedRequest(
        verb=str(event["verb"]),
        resource=str(target.get("resource", "")),
        subresource=str(target.get("subresource", "")),
        namespace=str(target.get("namespace", "")),
        name=str(target.get("name", "")),
        user=str(user.get("username", "")),
        user_agent=str(event.get("userAgent", "")),
        code=int(str(answer.get("code", 0))),
        stage=str(event["stage"]),
        received=str(event["requestReceivedTimestamp"]),
        message=str(answer.get("message", "")),
    )


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
