"""Removes a cluster in any state: after `clean` no process, mount, interface, namespace or cgroup is left."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cluster import cgroups, containerd, mounts, network, postgres, registry
from tests.cluster.hdfs import on_node
from tests.cluster.layout import Layout
from tests.cluster.services import SERVICES

# What `down` keeps: images take long to build, stable ports keep the env file valid, and logs explain failures.
_KEPT = {"containerd", "ports.json", "log", "images.json"}

_ON_DEMAND = (postgres.SERVICE, registry.SERVICE)
"""Processes that only some tests start."""

_CNI_RESULTS = Path("/var/lib/cni/results")
_CONTAINER_LOGS = Path("/var/log/containers")


def clean(layout: Layout) -> None:
    """Stops what runs and removes what is left. Idempotent."""
    on_node.stop_all(layout)
    for service in (*_ON_DEMAND, *reversed(SERVICES.values())):
        if service.name == "containerd" and layout.daemon("containerd").pid() and containerd.is_ready(layout):
            containerd.remove_containers(layout)
        service.stop(layout)
    cgroups.destroy(layout.name)
    mounts.unmount_below(layout.run, layout.kubelet, layout.containerd_root)
    network.destroy(layout.name)
    if containerd.has_lost_containers(layout) and layout.containerd_root.exists():
        # Its state is wrong, because it did not see its containers end. The images are imported again.
        shutil.rmtree(layout.containerd_root)
    _remove_files(layout)


def _remove_files(layout: Layout) -> None:
    for directory in (layout.run, layout.kubelet):
        if directory.exists():
            shutil.rmtree(directory)
    if layout.state.exists():
        for path in layout.state.iterdir():
            if path.name not in _KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    # Two programs write below directories that cannot be moved; our files carry our names.
    for path in _CNI_RESULTS.glob(f"{layout.name}-*"):
        path.unlink()
    pod_logs = layout.state / "log" / "pods"
    for link in _CONTAINER_LOGS.glob("*.log"):
        if link.is_symlink() and link.readlink().is_relative_to(pod_logs):
            link.unlink()
