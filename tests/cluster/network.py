"""The cluster's network namespace. It has no route out of the machine; the host's addresses and rules do not change."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.cluster import cgroups
from tests.cluster.control_plane import SERVICE_RANGE
from tests.cluster.layout import NODE_ADDRESS, POD_RANGE, Layout
from tests.cluster.progress import run

# Joins the cluster's cgroup, then becomes the program.
_JOIN = 'echo $$ > "$0" && exec "$@"'


def inside(name: str, command: Sequence[str]) -> list[str]:
    """Returns the command that runs `command` inside the namespace and the cgroup `name`.

    `ip netns exec` would remount /sys and hide /sys/fs/cgroup; nsenter keeps the mounts.
    """
    return beside(name, ["nsenter", f"--net={_path(name)}", *command])


def beside(name: str, command: Sequence[str]) -> list[str]:
    """Returns the command that runs `command` in the host's network, but inside the cgroup `name`."""
    return ["sh", "-c", _JOIN, str(cgroups.daemons_file(name)), *command]


def exists(name: str) -> bool:
    return _path(name).exists()


def create(name: str) -> None:
    """Makes the namespace. The node's address stands on lo: not every kernel has dummy devices."""
    run(["ip", "netns", "add", name])
    for command in (
        ["ip", "link", "set", "lo", "up"],
        ["ip", "address", "add", f"{NODE_ADDRESS}/32", "dev", "lo"],
        # Without these two, a local connection to a Service address fails before it is translated.
        ["ip", "route", "add", SERVICE_RANGE, "dev", "lo"],
        ["ip", "route", "add", "default", "dev", "lo"],
        ["sysctl", "--quiet", "--write", "net.ipv4.ip_forward=1"],
    ):
        run(["nsenter", f"--net={_path(name)}", *command])


def destroy(name: str) -> None:
    """Removes the namespace and with it its interfaces, routes and rules."""
    if exists(name):
        # An entry left by a restart of the machine is a plain file, which `ip netns delete` removes as well.
        subprocess.run(["ip", "netns", "delete", name], check=True)


def write_cni_configuration(layout: Layout) -> Path:
    """Writes the pod network (one bridge inside the namespace) and returns its directory."""
    directory = layout.state / "cni"
    directory.mkdir(parents=True, exist_ok=True)
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(layout.run / "addresses"),
            "ranges": [[{"subnet": POD_RANGE}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    document = {"cniVersion": "1.0.0", "name": layout.name, "plugins": plugins}
    (directory / "10-bridge.conflist").write_text(json.dumps(document, indent=1))
    return directory


def _path(name: str) -> Path:
    return Path("/run/netns") / name
