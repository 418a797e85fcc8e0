"""The register of every secret value that a test uses, stored with the cluster until `down`, for secret_search."""

from __future__ import annotations

import base64
import json
import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cluster.layout import Layout

SHORTEST: Final = 12
"""Characters. A shorter value occurs by chance: a user's name, a port, a word of a message."""


@dataclass(frozen=True)
class SecretValue:
    """A value to search for. Reports show `name` and never the value."""

    name: str
    value: bytes

    def forms(self) -> frozenset[bytes]:
        """The encodings of the value: plain, in JSON (Go's too), in a URL and in base64."""
        text = self.value.decode(errors="surrogateescape")
        plain = {self.value}
        if self.value.isascii():
            inside_json = json.dumps(text)[1:-1]
            go = inside_json.translate({ord(each): f"\\u{ord(each):04x}" for each in "<>&"})
            plain |= {inside_json.encode(), go.encode(), urllib.parse.quote(text, safe="").encode()}
        return frozenset(plain | {_inside_base64(self.value, before) for before in range(3)})


def _inside_base64(value: bytes, before: int) -> bytes:
    """The base64 characters that encode only `value` when `before` bytes (modulo 3) precede it."""
    encoded = base64.b64encode(b"\0" * before + value)
    spoilt = (before * 8 + 5) // 6
    return encoded[spoilt : (before + len(value)) * 8 // 6]


def register(values: Mapping[str, str], *, layout: Layout | None = None) -> None:
    """Appends values to the file of all processes. Values shorter than SHORTEST are left out."""
    lines = [json.dumps([name, value]) + "\n" for name, value in values.items() if len(value) >= SHORTEST]
    _file(layout).parent.mkdir(parents=True, exist_ok=True)  # a test on a node of its own may be the first here
    file = os.open(_file(layout), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, "".join(lines).encode())
    finally:
        os.close(file)


def registered(*, layout: Layout | None = None) -> set[SecretValue]:
    """All values registered with this cluster."""
    file = _file(layout)
    lines = file.read_text().splitlines() if file.exists() else []
    return {SecretValue(name, value.encode()) for name, value in map(json.loads, lines)}


def _file(layout: Layout | None) -> Path:
    return (layout or Layout()).state / "secret-values.jsonl"
