"""One real API server for all tests of this folder. Tests of the CRDs share the namespace `shop`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.apiserver.crds import Objects, install
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer


@contextmanager
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """An API server that serves the committed CRDs and collects garbage; it has no nodes."""
    with ApiServer(tmp_path_factory.mktemp("api-server"), controllers=USUAL_CONTROLLERS) as server:
        install(server.kubeconfig)
        yield server


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """The one of all tests that leave nothing behind which holds for the whole cluster."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture
def objects(api_server: ApiServer) -> Iterator[Objects]:
    """Objects of our kinds in the namespace `shop`, all of them gone after the test."""
    made = Objects(api_server.kubeconfig)
    yield made
    made.clear()
