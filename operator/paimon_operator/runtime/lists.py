"""The lists of the watches: their objects go to the handlers page by page, and kopf gets empty pages.

kopf keeps two tasks for each listed object until `queueing.idle_timeout`. It lists all objects again after each outage
of the API server, when the cache has nearly all of them already. The memory of 1,000 tasks at once stayed with the
process, in pieces (docs/benchmarks.md). A listed object needs no task to be in order: if kopf delivers an event of the
previous watch after it, the cache keeps the newer version.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import aiohttp

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.keys import key_of
from paimon_operator.runtime.logs import fields

OnEvent = Callable[[Kind, None, Manifest], None]
"""Receives one object of a list. The event is None, as kopf has it for listed objects."""
_log = logging.getLogger(__name__)


def response_of_lists(on_event: OnEvent, *kinds: Kind) -> type[aiohttp.ClientResponse]:
    """The class of a session's responses. The objects of each list of `kinds` go to `on_event`.

    kopf still reads where the list goes on, and at which version its watch begins. A failure of `on_event` is logged,
    as kopf does with an object of a watch. What the object affects may then wait for the resync, a Pod for the next
    list.
    """
    kind_of = {f"{kind}List": kind for kind in kinds}

    class Response(aiohttp.ClientResponse):
        """A response whose lists are read here."""

        async def json(self, **options: Any) -> Any:
            """The document; of a list of `kinds` without its objects."""
            document = await super().json(**options)
            name = document.get("kind") if isinstance(document, dict) else None
            kind = kind_of.get(name) if isinstance(name, str) and self.status == HTTPStatus.OK else None
            if kind is None:
                return document
            await _pass_on(kind, document, on_event)
            return {**document, "items": []}

    return Response


async def _pass_on(kind: Kind, page: Manifest, on_event: OnEvent) -> None:
    """Calls `on_event` with each object of the page. Other tasks run in between: a page has up to fifty."""
    for item in page.get("items") or ():
        body = {"kind": str(kind), "apiVersion": page.get("apiVersion"), **item}
        try:
            on_event(kind, None, body)
        except Exception:  # noqa: BLE001  a bug that one object meets must not end the watches of all others
            key = key_of(kind, body)
            _log.exception("%s: this object of a list was not handled", key, extra=fields(*key))
        await asyncio.sleep(0)
