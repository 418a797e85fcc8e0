"""A command that brings a user's image onto the node of the tests, as `kind load docker-image` does it for kind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cluster import containerd
from tests.cluster.layout import Layout
from tests.cluster.progress import CommandFailedError
from tests.e2e.person import Person

COMMAND: Final = "load-image"
_SCRIPT: Final = """\
#!/bin/sh
# Hands an image over to root, who imports it, and waits until that is done.
set -eu
place="{inbox}/$(echo "$1" | tr '/:' '--')"
buildah push "$1" "docker-archive:$place.part:docker.io/library/$1"
mv "$place.part" "$place.tar"
while [ -e "$place.tar" ]; do sleep 0.2; done
[ ! -e "$place.failed" ]
"""
_PAUSE_S: Final = 0.2


@contextmanager
def loading_onto(layout: Layout, person: Person) -> Iterator[list[str]]:
    """Lets the user run COMMAND with an image. Yields the names of the files that were imported."""
    inbox, imported, ended = person.home / "to-load", list[str](), threading.Event()
    person.own(inbox)
    script = person.home / "bin" / COMMAND
    script.write_text(_SCRIPT.format(inbox=inbox), encoding="utf-8")
    script.chmod(0o755)
    with ThreadPoolExecutor(max_workers=1) as pool:
        importing = pool.submit(_import_all, layout, inbox, imported, ended)
        try:
            yield imported
        finally:
            ended.set()
            importing.result()


def _import_all(layout: Layout, inbox: Path, imported: list[str], ended: threading.Event) -> None:
    """Until the end. What cannot be imported fails the command of the user."""
    while not ended.wait(_PAUSE_S):
        for archive in inbox.glob("*.tar"):
            try:
                containerd.ctr(layout, "images", "import", str(archive))
                imported.append(archive.name)
            except CommandFailedError:
                archive.with_suffix(".failed").touch()
            archive.unlink()
