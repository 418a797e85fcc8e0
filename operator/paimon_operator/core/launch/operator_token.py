"""The token by which a Pod proves to the operator which Pod it is. The API server does not accept it."""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.looks import AUDIENCE

VOLUME: Final = "operator-token"
DIRECTORY: Final = "/var/run/secrets/paimon-operator"
FILE: Final = "token"
LIFETIME_S: Final = 3600
"""The kubelet renews it after four fifths of that."""


def path() -> str:
    """The file with the token."""
    return f"{DIRECTORY}/{FILE}"


def volume() -> dict[str, Any]:
    """The volume of a Pod with the token."""
    token = {"audience": AUDIENCE, "expirationSeconds": LIFETIME_S, "path": FILE}
    projected = {"sources": [{"serviceAccountToken": token}], "defaultMode": 0o440}
    return {"name": VOLUME, "projected": projected}


def mount() -> dict[str, Any]:
    """Its place in a container."""
    return {"name": VOLUME, "mountPath": DIRECTORY, "readOnly": True}
