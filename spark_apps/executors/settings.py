"""Mode Cluster: Spark's settings for a driver that creates executor Pods, and the wait for the first of them.

From the environment: KUBERNETES_SERVICE_HOST and _PORT, POD_IP, POD_NAME, EXECUTOR_IMAGE, EXECUTOR_PULL_POLICY,
EXECUTOR_TEMPLATE (the Pod to complete), API_ACCESS (a directory with `token` and `ca.crt`), SHARED_SECRETS.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_contract import environment
from paimon_contract.job import Job, JobExecutors
from spark_apps.executors.diagnostics import explain_missing
from spark_apps.executors.shared_secret import shared_secret
from spark_apps.failures.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER_PORT, BLOCK_PORT = "7078", "7079"
"""Fixed, so that a NetworkPolicy can name them."""
KUBERNETES = "spark.kubernetes"
FAILURES_COUNT_FOR = "10m"
"""Spark gives up, with exit code 11, after twice as many lost executors as it was asked for (three at least): counted
over the whole of a long run, nodes that come and go would end it."""
_POLL_SECONDS = 0.2


def host() -> str:
    """The Pod's address as a host: an IPv6 address needs brackets."""
    address = os.environ[environment.POD_IP]
    return f"[{address}]" if ":" in address else address


def options(job: Job, executors: JobExecutors) -> dict[str, str]:
    """Spark's settings. With these a driver needs rights on Pods and on nothing else."""
    access, pod = os.environ[environment.API_ACCESS], os.environ[environment.POD_NAME]
    return {
        "spark.app.id": pod,
        "spark.driver.host": host(),
        "spark.driver.bindAddress": os.environ[environment.POD_IP],
        "spark.driver.port": DRIVER_PORT,
        "spark.blockManager.port": BLOCK_PORT,
        f"{KUBERNETES}.namespace": job.run.namespace,
        f"{KUBERNETES}.driver.pod.name": pod,
        f"{KUBERNETES}.authenticate.oauthTokenFile": f"{access}/token",
        f"{KUBERNETES}.authenticate.caCertFile": f"{access}/ca.crt",
        f"{KUBERNETES}.driver.service.deleteOnTermination": "false",
        f"{KUBERNETES}.driver.ownPersistentVolumeClaim": "false",
        f"{KUBERNETES}.driver.reusePersistentVolumeClaim": "false",
        **_executors(pod, executors),
        **_secured(pod),
    }


def _executors(driver: str, executors: JobExecutors) -> dict[str, str]:
    """Number, size and Pods of the executors."""
    return {
        f"{KUBERNETES}.authenticate.executor.serviceAccountName": executors.service_account,
        f"{KUBERNETES}.container.image": os.environ[environment.EXECUTOR_IMAGE],
        f"{KUBERNETES}.container.image.pullPolicy": os.environ[environment.EXECUTOR_PULL_POLICY],
        f"{KUBERNETES}.executor.podTemplateFile": os.environ[environment.EXECUTOR_TEMPLATE],
        f"{KUBERNETES}.executor.podTemplateContainerName": "executor",
        f"{KUBERNETES}.executor.podNamePrefix": driver,
        f"{KUBERNETES}.executor.request.cores": f"{executors.cpu_millis}m",
        f"{KUBERNETES}.executor.disableConfigMap": "true",
        "spark.executor.instances": str(executors.instances),
        "spark.executor.cores": str(executors.cores),
        "spark.executor.memory": f"{executors.heap_mib}m",
        "spark.executor.memoryOverhead": f"{executors.overhead_mib}m",
        "spark.executor.failuresValidityInterval": FAILURES_COUNT_FOR,
    }


def _secured(application: str) -> dict[str, str]:
    """Authentication and encryption of the connections between driver and executors."""
    given = {
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.authEngineVersion": "2",
        "spark.io.encryption.enabled": "true",
    }
    secret = shared_secret(application)
    if secret is None:
        return given
    file = Path(os.environ.get(environment.TMPDIR, "/tmp")) / "executors.secret"  # noqa: S108 - the Pod's own
    file.touch(mode=0o600)
    file.write_bytes(secret)
    # Spark puts no secret into a Pod that has it in a file. Our executors have it in their environment.
    files = (f"spark.authenticate.secret.{side}.file" for side in ("driver", "executor"))
    return given | dict.fromkeys(files, str(file))


def await_first(spark: SparkSession, job: Job, executors: JobExecutors) -> None:
    """Returns once an executor has registered. Raises RunError, with the state of the Pods, when none has in time."""
    context: Any = spark.sparkContext._jsc.sc()
    deadline = time.monotonic() + executors.timeout_seconds
    while context.getExecutorMemoryStatus().size() < 2:  # noqa: PLR2004 - the driver is one of them
        if time.monotonic() >= deadline:
            raise RunError(
                "Infrastructure",
                "NoExecutors",
                f"no executor within {executors.timeout_seconds} s: {explain_missing(job.run.namespace)}",
                "free or add nodes, or correct the reported cause, or set spark.mode to Local",
                field="spec.spark",
            )
        time.sleep(_POLL_SECONDS)  # polling: Spark has no event for a registered executor
