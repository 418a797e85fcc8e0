"""Spark's event log of a run: where it lies, and that a history server shows it."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from backports import zstd

from spark_apps.catalog.event_log import DIRECTORY
from tests.cluster.ports import free_ports
from tests.cluster.s3 import REGION
from tests.spark.lake import Lake
from tests.spark.s3_lake import S3Lake

PATIENCE_S = 180.0
LOGGED = {"conf": {}, "eventLog": True}


@contextmanager
def history_server(lake: Lake, directory: Path) -> Iterator[str]:
    """A history server of the image's Spark on these logs; yields the address of its REST interface."""
    (port,) = free_ports(1)
    options = {"fs.logDirectory": directory.as_uri(), "ui.port": port, "fs.update.interval": "1s"}
    given = " ".join(f"-Dspark.history.{key}={value}" for key, value in options.items())
    spark = Path(lake.home.variables["PYSPARK_DIR"])
    process = subprocess.Popen(
        ["java", "-cp", f"{spark}/jars/*", *given.split(), "org.apache.spark.deploy.history.HistoryServer"],
        cwd=lake.directory,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/api/v1/applications"
    finally:
        process.kill()
        process.wait()


def shown(address: str) -> list[dict[str, Any]]:
    """The applications that a history server shows, as soon as it shows any."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  (of this machine)
                found: list[dict[str, Any]] = json.load(answer)
        except OSError:
            found = []
        if found or time.monotonic() > until:
            return found
        time.sleep(0.5)


def load(lake: Lake, env: Mapping[str, str] = MappingProxyType({}), **more: Any) -> None:
    """Creates the table and performs a Write named `load` in a driver of its own. `more` are members of its job."""
    lake.provision({"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1"}).ok()
    lake.land("orders/a.csv", "id,v\n1,a\n2,b\n")
    done = lake.drive(lake.write_job(run="load") | more, **env)
    assert done.code == 0, done.log


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_history_server_shows_the_run_by_its_name(lake: Lake) -> None:
    load(lake, spark=LOGGED)
    with history_server(lake, lake.directory / "warehouse" / DIRECTORY) as address:
        (application,) = shown(address)
    assert application["name"] == "load"
    assert application["attempts"][0]["completed"] is True


@pytest.mark.newest_engine
def test_without_the_switch_there_is_no_log(lake: Lake) -> None:
    load(lake)
    assert not (lake.directory / "warehouse" / DIRECTORY).exists()


@pytest.mark.newest_engine
def test_a_warehouse_on_s3_has_the_log_of_a_run_that_has_ended(s3_lake: S3Lake) -> None:
    client = s3_lake.engine.input
    hadoop = {client.endpoint_key: s3_lake.s3.endpoint, client.region_key: REGION, client.path_style_key: "true"}
    load(s3_lake, s3_lake.s3.keys, spark=LOGGED, hadoop=hadoop)
    s3 = s3_lake.s3.client()
    (listed,) = s3.list_objects_v2(Bucket="lake", Prefix=f"{s3_lake.root}/{DIRECTORY}/local-")["Contents"]
    text = zstd.decompress(s3.get_object(Bucket="lake", Key=listed["Key"])["Body"].read()).decode()
    assert s3_lake.s3.endpoint in text, "it has the settings of the run"
    assert not [name for name, value in s3_lake.s3.keys.items() if value in text], "no credentials"
