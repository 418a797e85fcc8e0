"""The size of a spec. The CRDs bound it too, except what JSON escapes and the open fields of a catalog's podOverlay."""

from __future__ import annotations

import json
from collections.abc import Iterator

from paimon_operator.api.base import MAX_SPEC_BYTES, ApiModel
from paimon_operator.api.reasons import Reason
from paimon_operator.errors import SpecError


def size_of(spec: ApiModel) -> Iterator[SpecError]:
    """A spec of more than `MAX_SPEC_BYTES`, with its size and its largest part."""
    text = spec.model_dump_json(by_alias=True, exclude_unset=True)
    size = len(text.encode())
    if size <= MAX_SPEC_BYTES:
        return
    parts = {name: len(packed(value)) for name, value in json.loads(text).items()}
    largest = max(parts, key=lambda name: parts[name])
    problem = (
        f"the spec has {_kib(size)} as JSON, {_kib(parts[largest])} of them in {largest}; "
        f"at most {_kib(MAX_SPEC_BYTES)} are allowed"
    )
    yield SpecError("spec", problem, Reason.SPEC_TOO_LARGE.remedy, reason=Reason.SPEC_TOO_LARGE)


def packed(value: object) -> bytes:
    """`value` as compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _kib(size: int) -> str:
    return f"{size / 1024:.1f} KiB"
