"""The node, the operator installed by its chart, and a namespace of its own for every test."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator, Mapping

import pytest

from tests.cluster import release
from tests.e2e.lab import Lab
from tests.e2e.soak import Soak
from tests.support.kubectl import Kubectl

_soaks: dict[str, Soak] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The soak is judged last: its twenty minutes pass while the others run."""
    items.sort(key=lambda item: "soak" in getattr(item, "fixturenames", ()))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts the soak before the first test, wherever in the order its own test stands."""
    wanted = any("soak" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))  # noqa: S311 - moments, not secrets
        env = release.ready_cluster()
        _soaks["soak"] = Soak(_lab(env, f"soak-{seed}", release.newest_engine()), seed)
        _soaks["soak"].start()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `each_engine` runs on every engine whose jars could be had."""
    if "each_engine" in metafunc.fixturenames:
        metafunc.parametrize("each_engine", release.engines())


@pytest.fixture(scope="session")
def cluster_env() -> Mapping[str, str]:
    """The environment of `build/cluster/env`; brings the node up when it is not."""
    return release.ready_cluster()


def _lab(env: Mapping[str, str], name: str, engine: str) -> Lab:
    """A namespace under Pod Security `restricted` with the Secret `lake-s3` and the catalog `lake`."""
    lab = Lab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine)
    lab.kubectl.apply(release.restricted_namespace(name))
    lab.kubectl.apply(lab.secret(), lab.catalog())
    return lab


@pytest.fixture
def lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str]) -> Iterator[Lab]:
    """One namespace per test and run of the suite; its deletion is left to finish in the background."""
    engine = (
        request.getfixturevalue("each_engine") if "each_engine" in request.fixturenames else release.newest_engine()
    )
    name = "e2e-" + hashlib.sha256(f"{request.node.nodeid} {os.getpid()}".encode()).hexdigest()[:8]
    made = _lab(cluster_env, name, engine)
    yield made
    made.kubectl.run("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def soak() -> Soak:
    """The one that was started when the tests had been collected."""
    return _soaks["soak"]
