"""One real API server for all tests of this folder. Tests of the CRDs share the namespace `shop`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.apiserver.crds import Objects, install
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer


@contextmanager
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Runs an API server with the committed CRDs and a garbage collector, without nodes."""
    with ApiServer(tmp_path_factory.mktemp("api-server"), controllers=USUAL_CONTROLLERS) as server:
        install(server.kubeconfig)
        yield server


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """The server of all tests that leave no cluster-scoped object."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture
def objects(api_server: ApiServer) -> Iterator[Objects]:
    """Objects of the three kinds in the namespace `shop`. The test's end deletes them."""
    made = Objects(api_server.kubeconfig)
    yield made
    made.clear()
