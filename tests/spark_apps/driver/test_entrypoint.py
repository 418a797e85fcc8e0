"""The command line that entrypoint.sh makes: no variable of the Pod becomes an option of Java."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROLES = {
    "driver": (["driver", "job.json"], {"DRIVER_HEAP": "1g -XX:OnError=env", "DRIVER_CORES": "1 --jars x"}),
    "executor": (
        ["executor"],
        dict.fromkeys(
            (
                "SPARK_EXECUTOR_CORES", "SPARK_EXECUTOR_MEMORY", "SPARK_DRIVER_URL", "SPARK_EXECUTOR_ID",
                "SPARK_APPLICATION_ID", "SPARK_EXECUTOR_POD_IP", "SPARK_RESOURCE_PROFILE_ID", "SPARK_EXECUTOR_POD_NAME",
            ),
            "x --jars y",
        ),
    ),
}  # fmt: skip


def start(role: str, directory: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The end of the entrypoint, which prints the arguments that it gives to Java."""
    java = directory / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    arguments, variables = ROLES[role]
    environment = {
        "PATH": f"{directory}:{os.environ['PATH']}",
        "PYSPARK_DIR": str(directory),
        "SPARK_APPS_DIR": str(ROOT / "spark_apps"),
        "PYTHONPATH": str(ROOT / "operator"),
        "PYSPARK_PYTHON": sys.executable,
        **variables,
        **more,
    }
    command = ["sh", str(ROOT / "spark_apps" / "entrypoint.sh"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)


@pytest.mark.parametrize("role", ROLES)
def test_a_value_with_spaces_stays_one_argument(role: str, tmp_path: Path) -> None:
    krb5 = tmp_path / "krb5.conf -javaagent:agent.jar"
    krb5.write_text("[libdefaults]\n")
    arguments = start(role, tmp_path, KRB5_CONFIG=str(krb5)).stdout.splitlines()
    assert f"-Djava.security.krb5.conf={krb5}" in arguments
    assert [each for each in arguments if each.startswith(("-javaagent", "--jars", "-XX:OnError"))] == []


def test_an_executor_does_not_start_java_with_a_krb5_conf_that_reads_other_files(tmp_path: Path) -> None:
    krb5 = tmp_path / "krb5.conf"
    krb5.write_text("include /etc/passwd\n")
    done = start("executor", tmp_path, KRB5_CONFIG=str(krb5))
    assert (done.returncode, done.stdout) == (1, "")
    krb5.write_text("[libdefaults]\n")
    assert start("executor", tmp_path, KRB5_CONFIG=str(krb5)).stdout != ""
