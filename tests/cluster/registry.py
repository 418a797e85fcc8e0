"""The image registry on the node. As on any cluster, only changed layers of an image are transferred."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.cluster.layout import NODE_ADDRESS, REGISTRY_PORT, Layout
from tests.cluster.programs import REGISTRY


def data_directory(layout: Layout) -> Path:
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
