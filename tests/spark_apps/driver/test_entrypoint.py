"""The command line that entrypoint.sh makes: no variable of the Pod becomes an option of Java."""

from __future__ import annotations

import os
import subprocess
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


def java_arguments(role: str, directory: Path) -> list[str]:
    """The arguments with which the entrypoint starts Java."""
    java = directory / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    arguments, variables = ROLES[role]
    environment = {
        "PATH": f"{directory}:{os.environ['PATH']}",
        "PYSPARK_DIR": str(directory),
        "SPARK_APPS_DIR": str(ROOT / "spark_apps"),
        "PYTHONPATH": str(ROOT / "operator"),
        "KRB5_CONFIG": "/etc/krb5.conf -javaagent:/data/agent.jar",
        **variables,
    }
    command = ["sh", str(ROOT / "spark_apps" / "entrypoint.sh"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.splitlines()


@pytest.mark.parametrize("role", ROLES)
def test_a_value_with_spaces_stays_one_argument(role: str, tmp_path: Path) -> None:
    arguments = java_arguments(role, tmp_path)
    assert "-Djava.security.krb5.conf=/etc/krb5.conf -javaagent:/data/agent.jar" in arguments
    assert [each for each in arguments if each.startswith(("-javaagent", "--jars", "-XX:OnError"))] == []
