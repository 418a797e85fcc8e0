"""An image registry on the node, for the installation from a registry. Tests start it on demand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.cluster import containerd
from tests.cluster.layout import NODE_ADDRESS, REGISTRY_PORT, Layout
from tests.cluster.programs import REGISTRY
from tests.cluster.services import Service, answers


@dataclass(frozen=True)
class Registry:
    """The two addresses of the running registry."""

    on_host: str
    in_cluster: str


def data_directory(layout: Layout) -> Path:
    """Where it keeps its layers."""
    return layout.state / "registry"


def command(layout: Layout) -> list[str]:
    """Writes the registry's configuration and returns its command."""
    configuration = layout.state / "registry.yaml"
    document = {
        "version": 0.1,
        "log": {"level": "warn", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(data_directory(layout))}, "delete": {"enabled": True}},
        "http": {"addr": f"{NODE_ADDRESS}:{REGISTRY_PORT}"},
    }
    configuration.write_text(yaml.safe_dump(document))
    return ["env", "OTEL_TRACES_EXPORTER=none", str(REGISTRY.path), "serve", str(configuration)]


SERVICE: Final = Service("registry", command, answers("registry", "/v2/"))


@contextmanager
def running_on_node(layout: Layout) -> Iterator[Registry]:
    """The registry, for as long as the block lasts, and empty at its beginning."""
    SERVICE.start(layout)
    try:
        SERVICE.wait(layout)
        yield Registry(f"127.0.0.1:{layout.ports()['registry']}", containerd.REGISTRY)
    finally:
        SERVICE.stop(layout)
        shutil.rmtree(data_directory(layout), ignore_errors=True)
