"""The part of a listed object that the cache keeps. It is taken page by page: no list of whole objects is in memory."""

from __future__ import annotations

from typing import Final

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.bodies import compressed
from paimon_operator.runtime.object_facts import facts_of, with_facts
from paimon_operator.runtime.projection import projected
from paimon_operator.runtime.rest import is_over

_WHOLE: Final = "paimon-operator.dev/whole"
"""Key of the compressed object in a listed one of which only a part was kept."""


def listed(kind: Kind, body: Manifest) -> Manifest:
    """The fields, the facts and the compressed whole. No decision reads a run whole that is over."""
    whole = None if kind is Kind.RUN and is_over(body) else compressed(body)
    return with_facts({**projected(kind, body), _WHOLE: whole}, facts_of(kind, body))


def whole_of(body: Manifest) -> bytes | None:
    """The compressed object: as `listed` has kept it, or compressed now."""
    kept: bytes | None = body[_WHOLE] if _WHOLE in body else compressed(body)
    return kept
