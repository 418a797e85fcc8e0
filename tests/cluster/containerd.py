"""containerd of the cluster: its configuration, its images and how its containers are removed."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.cluster import network
from tests.cluster.layout import NODE_ADDRESS, REGISTRY_PORT, Layout
from tests.cluster.processes import wait_until
from tests.cluster.progress import CommandFailedError, run

REGISTRY = f"{NODE_ADDRESS}:{REGISTRY_PORT}"
"""Names of images begin with it: the registry on the node, which runs only on demand."""

PAUSE_IMAGE = f"{REGISTRY}/pause:1"
_NAMESPACE = "k8s.io"

_CONFIGURATION = """\
version = 2
root = "{root}"
state = "{run}/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Without CAP_SYS_RESOURCE runc cannot lower an OOM score, and every sandbox dies with an EOF from its pipe.
  restrict_oom_score_adj = true
  # Pods' network namespaces below our own directory: /run/netns is everybody's.
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{cni}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{registries}"
"""


def command(layout: Layout) -> list[str]:
    """Writes the configuration and returns the command that starts containerd."""
    layout.containerd_root.mkdir(parents=True, exist_ok=True)
    _books_open(layout).touch()
    configuration = layout.state / "containerd.toml"
    configuration.write_text(
        _CONFIGURATION.format(
            root=layout.containerd_root,
            run=layout.run,
            socket=layout.containerd_socket,
            pause=PAUSE_IMAGE,
            cni=network.write_cni_configuration(layout),
            registries=_write_registry_hosts(layout),
        )
    )
    return ["containerd", "--config", str(configuration)]


def _write_registry_hosts(layout: Layout) -> Path:
    """Configures plain HTTP for the registry on the node."""
    directory = layout.state / "registries"
    hosts = directory / REGISTRY / "hosts.toml"
    hosts.parent.mkdir(parents=True, exist_ok=True)
    hosts.write_text(
        f'server = "http://{REGISTRY}"\n[host."http://{REGISTRY}"]\n  capabilities = ["pull", "resolve"]\n'
    )
    return directory


def ctr(layout: Layout, *arguments: str) -> str:
    """Runs containerd's own client in the cluster's network and returns what it printed."""
    client = ["ctr", "--address", str(layout.containerd_socket), "--namespace", _NAMESPACE, *arguments]
    return run(network.inside(layout.name, client))


def is_ready(layout: Layout) -> bool:
    try:
        ctr(layout, "version")
    except CommandFailedError:
        return False
    return True


def images(layout: Layout) -> set[str]:
    """Returns the names of the images on the node."""
    return set(ctr(layout, "images", "list", "--quiet").split())


def import_archive(layout: Layout, archive: Path) -> None:
    """Imports the images of a tar archive, under the names that they have in it."""
    ctr(layout, "images", "import", str(archive))


def has_lost_containers(layout: Layout) -> bool:
    """Returns whether containerd ended (a crash, a restart of the machine) before its containers were removed."""
    return _books_open(layout).exists()


def _books_open(layout: Layout) -> Path:
    return layout.containerd_root / "has-containers"


def remove_containers(layout: Layout) -> None:
    """Kills every container without a grace period and deletes it; raises TimeoutError."""
    for kind in ("tasks", "containers"):
        if not wait_until(lambda: not _delete_all(layout, kind), timeout=30):  # noqa: B023
            raise TimeoutError(f"containerd does not remove its {kind}: {_list(layout, kind)}")
    _books_open(layout).unlink(missing_ok=True)


def _delete_all(layout: Layout, kind: str) -> list[str]:
    """Deletes all of a kind and returns the names that are left."""
    for name in _list(layout, kind):
        # containerd itself deletes a task that ends: whoever comes second gets "not found".
        with contextlib.suppress(CommandFailedError):
            ctr(layout, kind, "delete", *(["--force"] if kind == "tasks" else []), name)
    return _list(layout, kind)


def _list(layout: Layout, kind: str) -> list[str]:
    return ctr(layout, kind, "list", "--quiet").split()
