"""A wrong endpoint fails within a minute: the number of attempts times the time-out of one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from paimon_engines.engine import Engine
from tests.spark.lake import Lake

MINUTE_MS = 60_000
KEYS = {"AWS_ACCESS_KEY_ID": "some-key", "AWS_SECRET_ACCESS_KEY": "some-secret"}


class HangsUp:
    """A server that closes every connection at once and counts them."""

    def __init__(self) -> None:
        self.tries = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            self.tries += 1
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[HangsUp]:
    hangs_up = HangsUp()
    yield hangs_up
    hangs_up.close()


def test_the_warehouse_is_tried_for_a_minute_at_most(lake: Lake, engine: Engine, server: HangsUp) -> None:
    options = {"s3.endpoint": server.endpoint, "s3.endpoint.region": "r", "s3.path.style.access": "true"}
    job = lake.job("Drop", drop={}) | {
        "catalog": {"warehouse": "s3://lake/warehouse", "metastore": "filesystem", "options": options}
    }

    done = lake.drive(job, **KEYS)

    assert done.result is not None, done.log
    assert done.result["error"]["reason"] == "StorageUnreachable"
    one_try = int(engine.s3_catalog_options["s3.connection.timeout"])
    assert 1 <= server.tries <= MINUTE_MS / one_try, server.tries


@pytest.mark.newest_engine
def test_input_files_are_tried_for_a_minute_at_most(lake: Lake, engine: Engine, server: HangsUp) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()
    hadoop = {"fs.s3a.endpoint": server.endpoint, "fs.s3a.path.style.access": "true"}
    job = lake.write_job(location="s3://landing/") | {"hadoop": hadoop}

    done = lake.drive(job, **KEYS)

    assert done.result is not None, done.log
    assert done.result["error"]["reason"] == "StorageUnreachable"
    one_try = int(engine.input_hadoop_options["fs.s3a.connection.timeout"])
    assert 1 <= server.tries <= MINUTE_MS / one_try, server.tries
