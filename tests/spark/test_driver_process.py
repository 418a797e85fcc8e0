"""A driver as in a Pod: entrypoint.sh in a new process, its exit code and its termination message."""

from __future__ import annotations

import json

import pytest

from paimon_contract.exit_codes import EXIT_CODES
from paimon_contract.result import MAX_RESULT_BYTES
from paimon_engines.loader import supported_engines
from tests.spark.lake import Lake
from tests.support.spark_process import ROOT

pytestmark = pytest.mark.newest_engine
COLUMNS = [{"name": "id", "type": "BIGINT"}]

BODY = {"columns": COLUMNS, "primaryKeys": ["id"], "options": {"bucket": "1"}, "adoption": "Fail"}


def provision(lake: Lake, **change: object) -> dict[str, object]:
    return {**lake.job("Provision", provision=BODY), **change}


@pytest.mark.long
def test_a_driver_loads_its_classes_from_the_archive(lake: Lake) -> None:
    """Without the archive the drivers of all tests would take twice the time to start, without an error."""
    loaded = lake.directory / "classes"
    done = lake.drive(provision(lake), JAVA_TOOL_OPTIONS=f"-Xlog:class+load:file={loaded}")

    assert done.code == 0, done.log
    classes = [line for line in loaded.read_text().splitlines() if "$$Lambda" not in line]
    archived = [line for line in classes if line.endswith("source: shared objects file (top)")]
    from_jars = [line for line in classes if "source: file:" in line or "source: jar:" in line]
    assert len(archived) > 10 * len(from_jars)


def test_a_success_has_exit_code_0_and_the_message_is_also_the_last_line_of_the_log(lake: Lake) -> None:
    name = "made"
    job = lake.job("Provision", run=name, provision=BODY)
    run = {"kind": "PaimonRun", "namespace": "shop", "name": name, "run": name, "pod": f"{name}-1", "attempt": 1}

    done = lake.drive(job, RUN_NAME=name, RUN_NAMESPACE="shop", RUN_ATTEMPT="1", HOSTNAME=f"{name}-1")

    assert done.code == 0, done.log
    assert done.result is not None
    assert done.result["created"] is True
    *lines, last = done.stdout.splitlines()
    assert last == json.dumps(done.result, ensure_ascii=False, separators=(",", ":"))
    steps = [json.loads(line) for line in (*lines, *done.stderr.splitlines())]
    assert steps
    assert all(step["message"] and step["level"] and step["time"] for step in steps)
    assert [step for step in steps if not run.items() <= step.items()] == []


@pytest.mark.long
def test_a_job_of_another_engine_is_refused_before_any_access(lake: Lake) -> None:
    other = next(name for name in supported_engines() if name != lake.engine.id)

    done = lake.drive(provision(lake, engine=other))

    assert done.code == EXIT_CODES["Environment"], done.log
    assert done.result is not None
    assert done.result["error"]["reason"] == "EngineMismatch"
    assert not (lake.directory / "warehouse").exists()


def test_an_invalid_job_ends_with_an_error(lake: Lake) -> None:
    done = lake.drive(provision(lake, version=2))

    assert done.code == EXIT_CODES["Infrastructure"]
    assert "the job is not of version 1" in done.log
    assert done.result is None


def test_a_driver_ends_itself_at_its_deadline(lake: Lake) -> None:
    patient = {"SPARK_APPS_MAIN": str(ROOT / "tests" / "support" / "spark_pause.py"), "PATIENCE_S": "600"}
    lake.provision({"id": "BIGINT"}).ok()
    lake.land("orders/1.csv", "id\n1\n")

    done = lake.drive(lake.write_job(mode="Append"), DRIVER_DEADLINE_S="30", **patient)

    assert done.code == 137
    assert not (done.result or {}).get("ok"), "Python may see its JVM go, and tell of that"
    assert lake.rows() == []


def test_an_unreachable_storage_is_an_infrastructure_failure(lake: Lake) -> None:
    """Nothing listens on port 9. The engine's options for retries limit the duration."""
    catalog = {
        "warehouse": "s3://lake/warehouse",
        "metastore": "filesystem",
        "options": {"s3.endpoint": "http://127.0.0.1:9", "s3.endpoint.region": "r", "s3.path.style.access": "true"},
    }

    keys = {"AWS_ACCESS_KEY_ID": "some-key", "AWS_SECRET_ACCESS_KEY": "some-secret"}
    done = lake.drive(provision(lake, catalog=catalog), **keys)

    assert done.code == EXIT_CODES["Infrastructure"], done.log
    assert done.result is not None
    assert done.result["error"]["reason"] == "StorageUnreachable"
    assert "(endpoint http://127.0.0.1:9): " in done.result["error"]["message"]
    assert "Connection refused" in done.result["error"]["message"]
    assert done.result["error"]["field"] == "spec.storage.s3.endpoint"
    assert "some-secret" not in done.log


@pytest.mark.long
def test_unreachable_input_files_are_reported_with_their_endpoint(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()
    hadoop = {"fs.s3a.endpoint": "http://127.0.0.1:9", "fs.s3a.path.style.access": "true"}
    job = lake.write_job(location="s3://landing/") | {"hadoop": hadoop}

    done = lake.drive(job, AWS_ACCESS_KEY_ID="some-key", AWS_SECRET_ACCESS_KEY="some-secret")

    assert done.result is not None, done.log
    error = done.result["error"]
    assert (error["reason"], error["field"]) == ("StorageUnreachable", "spec.storage.s3.endpoint")
    assert "(endpoint http://127.0.0.1:9): " in error["message"]


@pytest.mark.long
def test_a_long_difference_still_fits_into_a_termination_message(lake: Lake) -> None:
    many = [{"name": f"column_{number}", "type": "DECIMAL(30,10)"} for number in range(300)]
    had = {each["name"]: each["type"] for each in COLUMNS} | {each["name"]: "DATE" for each in many}
    lake.provision(had, keys=["id"], options={"bucket": "1"}).ok()
    body = {
        "columns": COLUMNS + many,
        "primaryKeys": ["id"],
        "options": {"bucket": "1"},
        "adoption": "AdoptIfIdentical",
    }

    done = lake.drive(lake.job("Provision", provision=body))

    assert done.code == EXIT_CODES["Spec"], done.log
    assert done.result is not None
    assert len(json.dumps(done.result, ensure_ascii=False).encode()) <= MAX_RESULT_BYTES
    assert "column_0" in done.result["error"]["message"]
