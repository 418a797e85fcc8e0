"""A proxy of TCP connections that passes on what a client sends only after a delay, as a server farther away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_PART = 64 << 10


@contextmanager
def slow_proxy(url: str, delay: float) -> Iterator[str]:
    """The URL at which the server at `url` answers later by `delay` seconds."""
    target = urlsplit(url)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="slow proxy")
    thread.start()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            answers, requests = await asyncio.open_connection(target.hostname, target.port)
            await asyncio.gather(_pass_on(reader, requests, delay), _pass_on(answers, writer, 0))

    async def start() -> asyncio.Server:
        return await asyncio.start_server(serve, "127.0.0.1", 0)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"{target.scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    try:
        while part := await reader.read(_PART):
            await asyncio.sleep(delay)
            writer.write(part)
            await writer.drain()
    finally:
        writer.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
