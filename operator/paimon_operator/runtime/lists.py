"""The lists of the watches, read page by page before kopf sees their objects.

kopf makes a task for each listed object and keeps it until `queueing.idle_timeout`: of 1,000 objects at once after each
outage of the API server, nearly all of which the cache has in the listed version. It took 0.7 ms of CPU for each, and
the memory of those tasks stayed with the process in pieces (docs/benchmarks.md). A listed object needs no task: nothing
is delivered before it, and its watch begins after the list.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import aiohttp

from paimon_operator.core.ports import Kind, Manifest

_log = logging.getLogger(__name__)

OnEvent = Callable[[Kind, None, Manifest], None]
"""Receives one object of a list: no event, as kopf has it."""


def response_of_lists(on_event: OnEvent, *kinds: Kind) -> type[aiohttp.ClientResponse]:
    """The class of a session's responses. It passes on the objects of lists of `kinds`, and kopf gets an empty page.

    kopf still reads where the list goes on, and at which version its watch begins. An object that `on_event` fails for
    is logged and left out, as kopf does with one of a watch: the resync finds it again.
    """
    kind_of = {f"{kind}List": kind for kind in kinds}

    class Response(aiohttp.ClientResponse):
        """A response whose lists are read here."""

        async def json(self, **options: Any) -> Any:
            """The document; of a list of `kinds` without its objects."""
            document = await super().json(**options)
            kind = kind_of.get(document.get("kind", "")) if isinstance(document, dict) else None
            if kind is None:
                return document
            await _pass_on(kind, document, on_event)
            return {**document, "items": []}

    return Response


async def _pass_on(kind: Kind, page: Manifest, on_event: OnEvent) -> None:
    """Other tasks run after each object: a page has fifty of up to 1.5 MiB."""
    for item in page.get("items") or ():
        body = {"kind": str(kind), "apiVersion": page.get("apiVersion"), **item}
        try:
            on_event(kind, None, body)
        except Exception:  # noqa: BLE001  a bug that one object meets must not end the watches of all others
            metadata = body.get("metadata") or {}
            _log.exception("%s %s/%s of a list is left out", kind, metadata.get("namespace"), metadata.get("name"))
        await asyncio.sleep(0)
