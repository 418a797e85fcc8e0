"""Waits by a watch, with a `kubectl` program that a test controls: the processes of a wait, and its end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support import kubectl as module
from tests.support.kubectl import Kubectl, Object

PROGRAM = """#!/bin/sh
echo "$*" >> calls
case "$*" in
*--watch*) cat events; if [ -e keeps-open ]; then exec sleep 60; fi ;;
*) if [ -e "list-$(grep -vc -e --watch calls)" ]; then cat "list-$(grep -vc -e --watch calls)"; else cat list; fi ;;
esac
"""


class FakeKubectl:
    """A directory with the program and its answers."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        program = directory / "bin" / "kubectl"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\ncd {directory}\n" + PROGRAM.partition("\n")[2])
        program.chmod(0o755)
        (directory / "keeps-open").touch()
        self.lists([])
        self.events()

    @property
    def kubectl(self) -> Kubectl:
        return Kubectl(namespace="n", env={"PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}"})

    def lists(self, objects: list[Object], *, at: int = 0) -> None:
        """Sets the answer of `get`, for all calls or for call number `at`."""
        (self.directory / (f"list-{at}" if at else "list")).write_text(json.dumps({"items": objects}))

    def events(self, *events: tuple[str, Object]) -> None:
        texts = [json.dumps({"type": kind, "object": each}) + "\n" for kind, each in events]
        (self.directory / "events").write_text("".join(texts))

    def ends_watches(self) -> None:
        (self.directory / "keeps-open").unlink()

    @property
    def calls(self) -> list[str]:
        return (self.directory / "calls").read_text().splitlines()


def pod(name: str, phase: str = "Pending") -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"phase": phase}}


def is_running(obj: Object | None) -> bool:
    return obj is not None and obj["status"]["phase"] == "Running"


@pytest.fixture
def fake(tmp_path: Path) -> FakeKubectl:
    return FakeKubectl(tmp_path)


def test_a_condition_that_holds_starts_no_watch(fake: FakeKubectl) -> None:
    fake.lists([pod("a", "Running")])
    assert fake.kubectl.until("pod", "a", is_running, what="running") == pod("a", "Running")
    assert len(fake.calls) == 1


def test_an_event_ends_the_wait_after_two_processes(fake: FakeKubectl) -> None:
    fake.lists([pod("a")])
    fake.events(("ADDED", pod("a")), ("MODIFIED", pod("a", "Running")), ("MODIFIED", pod("a", "Succeeded")))
    assert fake.kubectl.until("pod", "a", is_running, what="running") == pod("a", "Running")
    assert [("--watch" in call) for call in fake.calls] == [False, True]
    assert all("metadata.name=a" in call for call in fake.calls)


def test_a_deleted_object_is_none(fake: FakeKubectl) -> None:
    fake.lists([pod("a")])
    fake.events(("ADDED", pod("a")), ("DELETED", pod("a")))
    assert fake.kubectl.until("pod", "a", lambda each: each is None, what="gone") is None


def test_the_list_has_all_objects_after_the_events(fake: FakeKubectl) -> None:
    fake.lists([pod("a"), pod("b")])
    fake.events(("DELETED", pod("a")), ("ADDED", pod("c")), ("MODIFIED", pod("c", "Running")))
    found = fake.kubectl.until_list("pod", "app=x", lambda pods: any(map(is_running, pods)), what="one running")
    assert sorted(each["metadata"]["name"] for each in found) == ["b", "c"]
    assert "-l app=x" in fake.calls[-1]


def test_a_watch_that_ends_is_followed_by_a_list_and_another_watch(fake: FakeKubectl) -> None:
    fake.lists([pod("a")])
    fake.lists([pod("a", "Running")], at=3)
    fake.ends_watches()
    assert is_running(fake.kubectl.until("pod", "a", is_running, what="running"))
    assert [("--watch" in call) for call in fake.calls] == [False, True, False, True, False]


def test_a_time_without_events_is_followed_by_a_list(fake: FakeKubectl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion between the first list and the watch has no event."""
    monkeypatch.setattr(module, "RESYNC_S", 0.2)
    fake.lists([pod("a")], at=1)
    assert fake.kubectl.until("pod", "a", lambda each: each is None, what="gone") is None


def test_a_wait_that_times_out_shows_the_last_state(fake: FakeKubectl) -> None:
    fake.lists([pod("a", "Unknown")])
    fake.events(("MODIFIED", pod("a")))
    with pytest.raises(AssertionError, match=r"pod/a: not running after 1 s(.|\n)*phase: Unknown"):
        fake.kubectl.until("pod", "a", is_running, what="running", seconds=1)
