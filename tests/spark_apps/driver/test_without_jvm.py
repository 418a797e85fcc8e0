"""The driver's first program, started by the entrypoint as in a Pod, with a java that only says that it was started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.exit_codes import START_JVM, ExitCode
from paimon_contract.job import Job, JobCatalog, files_digest, job_text
from paimon_contract.parameters.drop import DropParameters
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_schema.plan import make_plan
from paimon_schema.table_schema import DeclaredSchema
from spark_apps.driver.dispatch import operation_of, without_jvm_of
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.schema.declared import declared_schema
from tests.spark_apps.jobs import job
from tests.support import builders
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable

ROOT = Path(__file__).parents[3]
JAVA_STARTED = 42
COLUMNS = (JobColumn("id", "BIGINT"), JobColumn("amount", "INT"))
NARROWER = (JobColumn("id", "BIGINT"), JobColumn("amount", "SMALLINT"))
OWNER = "cluster/shop/orders"


@dataclass(frozen=True)
class Ended:
    """The end of the entrypoint; `result` is the termination message."""

    code: int
    result: dict[str, Any] | None
    stdout: str
    stderr: str

    @property
    def log(self) -> str:
        return self.stdout + self.stderr

    @property
    def error(self) -> tuple[str, str, str]:
        """Class, reason and field of a failed run."""
        assert self.result is not None, self.log
        error = self.result["error"]
        return error["class"], error["reason"], error["field"]


@dataclass(frozen=True)
class Pod:
    """A driver of Provision and its directory, in which the warehouse is."""

    directory: Path

    def job(self, columns: tuple[JobColumn, ...] = COLUMNS, **more: Any) -> Job:
        provision = ProvisionParameters(columns=columns, primary_keys=("id",), adoption="Fail", **more)
        catalog = JobCatalog((self.directory / "warehouse").as_uri(), "filesystem")
        return job(operation="Provision", catalog=catalog, owner=OWNER, parameters=provision)

    def table(self, *, owner: str = OWNER, **options: str) -> Path:
        """A table of the columns `id` and `amount`. Returns its schema file."""
        file = self.directory / "warehouse" / "shop.db" / "orders" / "schema" / "schema-0"
        file.parent.mkdir(parents=True, exist_ok=True)
        fields = [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}, {"id": 1, "name": "amount", "type": "INT"}]
        keys = {"partitionKeys": [], "primaryKeys": ["id"]}
        document = {"version": 3, "id": 0, "fields": fields, "highestFieldId": 1, **keys, "timeMillis": 7}
        file.write_text(json.dumps(document | {"options": {"paimon-operator.owner": owner, **options}}))
        return file

    def start(self, of: Job, **variables: str) -> Ended:
        volume = self.directory / "job"
        volume.mkdir(exist_ok=True)
        (volume / "job.json").write_text(job_text(of), encoding="utf-8")
        java, message = self.directory / "java", self.directory / "message"
        java.write_text(f'#!/bin/sh\necho "java, with ${{DRIVER_DEADLINE_S:-no}} deadline"\nexit {JAVA_STARTED}\n')
        java.chmod(0o755)
        environment = {
            "PATH": f"{self.directory}:{os.environ['PATH']}",
            "PYSPARK_DIR": str(self.directory),
            "SPARK_APPS_DIR": str(ROOT / "spark_apps"),
            "PYTHONPATH": str(ROOT / "operator"),
            "PYSPARK_PYTHON": sys.executable,
            "TERMINATION_LOG": str(message),
            "TRY_WITHOUT_JVM": "1",
            "TMPDIR": str(self.directory),
            **variables,
        }
        command = ["sh", str(ROOT / "spark_apps" / "entrypoint.sh"), "driver", str(volume / "job.json")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        result = json.loads(message.read_text()) if message.exists() else None
        return Ended(done.returncode, result, done.stdout, done.stderr)


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def needs_java(ended: Ended) -> bool:
    """Whether java was started, and nothing was reported before."""
    return (ended.code, ended.result) == (JAVA_STARTED, None)


def test_an_illegal_edit_of_the_own_table_is_refused_before_java_starts(pod: Pod) -> None:
    pod.table()
    ended = pod.start(pod.job(NARROWER))
    assert ended.code == ExitCode.SPEC, ended.log
    assert ended.error == ("Spec", "TableDiffers", "spec.schema.columns[amount].type")
    assert "java, with" not in ended.log
    *lines, last = ended.stdout.splitlines()
    assert last == json.dumps(ended.result, ensure_ascii=False, separators=(",", ":"))
    (failure,) = [json.loads(line) for line in ended.stderr.splitlines()]
    assert (lines, failure["level"], failure["run"]) == ([], "ERROR", "r")
    assert "RunError" in failure["message"]
    assert "Traceback" in failure["exc_info"]


LEFT_TO_JAVA = {
    "a legal edit": {"columns": (*COLUMNS, JobColumn("note", "STRING"))},
    "nothing to change": {"columns": COLUMNS},
    "no table": {"columns": NARROWER, "table": None},
    "a table of another owner": {"columns": NARROWER, "table": {"owner": "cluster/shop/other"}},
    "an approved plan": {"columns": COLUMNS[:1], "dropped": ("amount",), "approve": True, "approved": "the plan"},
    "a number of buckets that a rescale changes": {
        "columns": COLUMNS,
        "options": {"bucket": "8"},
        "rescales": True,
        "table": {"bucket": "2"},
    },
    "a number of buckets in the middle of a rescale": {
        "columns": COLUMNS,
        "options": {"bucket": "8"},
        "table": {"bucket": "2", "paimon-operator.rescale": "tag"},
    },
    "a plan that needs no approval": {"columns": (*COLUMNS, JobColumn("note", "STRING")), "approve": True},
}


def declared_of(of: Job) -> DeclaredSchema:
    return declared_schema(of.parameters_as(ProvisionParameters))


def plan_hash(pod: Pod, of: Job) -> str:
    """The hash of the job's plan for the table as it is now."""
    has = TableFiles(VolumeFiles(), location_of(of)).latest_schema()
    assert has is not None
    return make_plan(has, declared_of(of), builders.engines()[of.engine]).hash


@pytest.mark.parametrize("case", LEFT_TO_JAVA.values(), ids=LEFT_TO_JAVA)
def test_everything_else_is_left_to_java(pod: Pod, case: dict[str, Any]) -> None:
    more = dict(case)
    options = more.pop("table", {})
    if options is not None:
        pod.table(**options)
    if more.get("approved") is not None:
        more["approved"] = plan_hash(pod, pod.job(**more))
    ended = pod.start(pod.job(**more))
    assert needs_java(ended), ended.log
    assert "the JVM is needed" not in ended.log, "only what cannot be read is reported"


@pytest.mark.parametrize("approved", [None, "0123456789abcdef"])
def test_a_plan_that_is_not_approved_waits_without_java(pod: Pod, approved: str | None) -> None:
    pod.table()
    edit = pod.job(COLUMNS[:1], dropped=("amount",), approve=True, approved=approved)
    ended = pod.start(edit)
    assert (ended.code, ended.error[1]) == (ExitCode.SPEC, "AwaitingApproval"), ended.log
    assert ended.result is not None
    assert ended.result["plan"]["hash"] == plan_hash(pod, edit)


def test_the_rest_of_an_approved_plan_whose_first_commit_was_made_is_left_to_java(pod: Pod) -> None:
    edit = pod.job(COLUMNS[:1], dropped=("amount",), approve=True, approved="fedcba9876543210")
    pod.table(**{"paimon-operator.applying": f"fedcba9876543210 {declared_of(edit).digest}"})
    assert needs_java(pod.start(edit))
    pod.table(**{"paimon-operator.applying": "fedcba9876543210 anotherdeclaration"})
    assert pod.start(edit).error[1] == "AwaitingApproval"


def test_what_cannot_be_read_is_left_to_java_with_one_line_in_the_log(pod: Pod) -> None:
    pod.table().write_text('{"version": 9}')
    ended = pod.start(pod.job(NARROWER))
    assert needs_java(ended), ended.log
    (line,) = (json.loads(line) for line in ended.log.splitlines() if "the JVM is needed" in line)
    assert line["message"].endswith("schema-0: version 9 of schema files is newer than 3")


def test_an_unreachable_storage_is_left_to_java_within_seconds(pod: Pod) -> None:
    options = {"s3.endpoint": "http://127.0.0.1:9", "s3.endpoint.region": "r", "s3.path.style.access": "true"}
    of = replace(pod.job(NARROWER), catalog=JobCatalog("s3://lake/warehouse", "filesystem", options))
    began = time.monotonic()
    ended = pod.start(of, AWS_ACCESS_KEY_ID="some-key", AWS_SECRET_ACCESS_KEY="some-secret")
    assert needs_java(ended), ended.log
    assert "the JVM is needed: UnreadableError: s3://lake/warehouse/shop.db/orders/schema: Could not" in ended.log
    assert "some-secret" not in ended.log
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("end", ["exit 1", "exit 120", "kill -KILL $$", "kill -SEGV $$"])
def test_a_program_that_fails_is_left_to_java(pod: Pod, end: str) -> None:
    pod.table()
    failing = pod.directory / "python"
    failing.write_text(f"#!/bin/sh\n{end}\n")
    failing.chmod(0o755)
    assert needs_java(pod.start(pod.job(NARROWER), PYSPARK_PYTHON=str(failing)))


def test_its_time_counts_for_the_deadline_of_the_container(pod: Pod) -> None:
    slow = pod.directory / "python"
    slow.write_text(f'#!/bin/sh\nsleep 2\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    found = pod.start(pod.job(), DRIVER_DEADLINE_S="900", PYSPARK_PYTHON=str(slow))
    (line,) = (line for line in found.log.splitlines() if line.startswith("java, with"))
    assert 890 < int(line.split()[2]) <= 898
    assert pod.start(pod.job(), DRIVER_DEADLINE_S="1", PYSPARK_PYTHON=str(slow)).code == 137


def test_another_job_than_the_operators_ends_the_driver(pod: Pod) -> None:
    pod.table()
    of = pod.job(NARROWER)
    assert pod.start(of, JOB_DIGEST=files_digest({"job.json": "{}"})).code == ExitCode.JOB_CHANGED
    assert pod.start(of, JOB_DIGEST=files_digest({"job.json": job_text(of)})).code == ExitCode.SPEC


def test_an_operation_without_such_a_program_needs_java(pod: Pod) -> None:
    of = replace(pod.job(), operation="Drop", parameters=DropParameters())
    assert needs_java(pod.start(of))


def test_without_the_variable_java_starts_at_once(pod: Pod) -> None:
    pod.table()
    assert needs_java(pod.start(pod.job(NARROWER), TRY_WITHOUT_JVM=""))


def test_certificates_are_prepared_for_java_only(pod: Pod) -> None:
    pod.table()
    missing = {"STORAGE_CA_FILE": str(pod.directory / "none")}
    assert pod.start(pod.job(NARROWER), **missing).code == ExitCode.SPEC
    assert pod.start(pod.job(), **missing).code not in (JAVA_STARTED, ExitCode.SPEC)


def test_an_expiry_starts_java_only_where_a_snapshot_may_expire(pod: Pod) -> None:
    made = FabricatedTable(pod.table(bucket="4").parents[1])
    made.commit([DataFile(name="f1")])
    made.commit([DataFile(name="f2")])
    of = replace(pod.job(), operation="ExpireSnapshots", parameters=ExpireSnapshotsParameters())
    assert needs_java(pod.start(replace(of, parameters=ExpireSnapshotsParameters(num_retained_min=1))))
    nothing = pod.start(of)
    assert nothing.code == 0, nothing.log
    assert nothing.result is not None
    assert (nothing.result["ok"], nothing.result["expired"]) == (True, 0)
    assert nothing.result["before"]["snapshots"] == nothing.result["after"]["snapshots"] == 2


def test_the_codes_of_a_driver_differ_from_those_that_start_java() -> None:
    ends = {int(each) for each in ExitCode}
    assert all(code == 0 or 10 <= code <= 49 for code in ends), "entrypoint.sh has these numbers"
    assert START_JVM not in ends


def test_operator_and_driver_agree_on_the_operations_that_may_end_without_a_jvm() -> None:
    for each in map(OPERATIONS.of, OPERATIONS.types):
        assert each.may_end_without_jvm is (without_jvm_of(operation_of(each.type)) is not None), each.type
