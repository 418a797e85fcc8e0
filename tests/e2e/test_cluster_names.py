"""Names, directories and ports of clusters: those of two checkouts differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.layout import Layout
from tests.cluster.ports import free_ports, is_free

DEEP = Path("/") / "a-long-directory-name" / ("x" * 200) / "checkout"


def test_two_checkouts_share_no_name_and_no_directory() -> None:
    one, other = Layout(Path("/src/one")), Layout(Path("/src/other"))
    assert one.name != other.name
    for part in ("state", "run", "kubelet", "env_file", "containerd_socket"):
        assert getattr(one, part) != getattr(other, part), part


@pytest.mark.parametrize("checkout", [Path("/src/one"), DEEP])
def test_names_are_within_the_limits_of_the_kernel(checkout: Path) -> None:
    layout = Layout(checkout)
    assert len(layout.name) <= 15, "longer than an interface name may be"
    socket = layout.kubelet / "pod-resources" / "kubelet.sock"
    for path in (layout.containerd_socket, socket):
        assert len(str(path)) < 100, f"{path} is longer than a socket's path may be"


def test_a_checkout_keeps_its_ports_until_another_process_uses_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.state.mkdir(parents=True)
    first = layout.choose_ports()
    assert layout.choose_ports() == first == layout.ports()
    assert len(set(first.values())) == len(first)


def test_parallel_test_processes_never_get_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    got: set[int] = set()
    for worker in ("", "gw0", "gw1", "gw2", "gw3"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        found = set(free_ports(500))
        assert not got & found
        got |= found


def test_free_ports_are_free_and_different() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(is_free(port) for port in ports)
