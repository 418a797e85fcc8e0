"""Every secret that a test hands out, remembered beside the cluster until `down`, so that it can be searched for."""

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
"""Characters. A shorter value would be found by accident: a user's name, a port, the word of a message."""


@dataclass(frozen=True)
class SecretValue:
    """`name` is what a report may call it; the value is never shown."""

    name: str
    value: bytes

    def forms(self) -> frozenset[bytes]:
        """How the value looks where it was copied to: as it is, inside JSON (Go's too), inside a URL or base64."""
        text = self.value.decode(errors="surrogateescape")
        plain = {self.value}
        if self.value.isascii():
            inside_json = json.dumps(text)[1:-1]
            go = inside_json.translate({ord(each): f"\\u{ord(each):04x}" for each in "<>&"})
            plain |= {inside_json.encode(), go.encode(), urllib.parse.quote(text, safe="").encode()}
        return frozenset(plain | {_inside_base64(self.value, before) for before in range(3)})


def _inside_base64(value: bytes, before: int) -> bytes:
    """The characters that stand for `value` alone when `before` bytes (modulo 3) come ahead of it."""
    encoded = base64.b64encode(b"\0" * before + value)
    spoilt = (before * 8 + 5) // 6
    return encoded[spoilt : (before + len(value)) * 8 // 6]


def register(values: Mapping[str, str], *, layout: Layout | None = None) -> None:
    """Remembers values by name. Tests side by side do so in one file; those too short to be looked for are left out."""
    lines = [json.dumps([name, value]) + "\n" for name, value in values.items() if len(value) >= SHORTEST]
    _file(layout).parent.mkdir(parents=True, exist_ok=True)  # a test on a node of its own may be the first here
    file = os.open(_file(layout), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, "".join(lines).encode())
    finally:
        os.close(file)


def registered(*, layout: Layout | None = None) -> set[SecretValue]:
    """All that were ever registered with this cluster."""
    file = _file(layout)
    lines = file.read_text().splitlines() if file.exists() else []
    return {SecretValue(name, value.encode()) for name, value in map(json.loads, lines)}


def _file(layout: Layout | None) -> Path:
    return (layout or Layout()).state / "secret-values.jsonl"
