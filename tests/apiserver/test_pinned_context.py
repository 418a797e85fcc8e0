"""`make demo CLUSTER=current` goes on where it was confirmed, whatever a person does with kubectl meanwhile."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cluster.current import confirm, pinned
from tests.cluster.programs import KUBECTL

CONTEXTS = {"trial": "https://trial.example.com:6443", "production": "https://production.example.com:6443"}


def variables() -> dict[str, str]:
    """Those of this process, with kubectl."""
    return {**os.environ, "PATH": os.pathsep.join([str(KUBECTL.path.parent), os.environ["PATH"]])}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A kubeconfig of two clusters whose current context is `trial`."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "trial",
        "clusters": [{"name": name, "cluster": {"server": server}} for name, server in CONTEXTS.items()],
        "users": [{"name": name, "user": {"token": f"token of {name}"}} for name in CONTEXTS],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in CONTEXTS],
    }
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))
    return {**variables(), "KUBECONFIG": str(path), "YES": "1"}


def test_another_context_does_not_move_a_demo_that_was_confirmed(
    env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pinned(env) as confirmed:
        confirm(confirmed)
        subprocess.run(["kubectl", "config", "use-context", "production"], env=env, check=True)
        seen = yaml.safe_load(Path(confirmed["KUBECONFIG"]).read_text())
    assert f"context trial at {CONTEXTS['trial']}" in capsys.readouterr().out
    assert [each["cluster"]["server"] for each in seen["clusters"]] == [CONTEXTS["trial"]]
    assert [each["user"]["token"] for each in seen["users"]] == ["token of trial"]


def test_the_file_with_the_credentials_is_private_and_does_not_last(env: dict[str, str]) -> None:
    with pinned(env) as confirmed:
        path = Path(confirmed["KUBECONFIG"])
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


def test_without_a_context_nothing_begins(tmp_path: Path) -> None:
    nowhere = {**variables(), "KUBECONFIG": str(tmp_path / "no")}
    with pytest.raises(SystemExit, match="kubectl config view"), pinned(nowhere):
        pytest.fail("a demo begins without a cluster")
