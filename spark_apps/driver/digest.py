"""The check that the mounted job is the operator's: everyone who may create ConfigMaps could mount another one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from paimon_contract import environment
from paimon_contract.job import files_digest


class JobChangedError(Exception):
    """The mounted files are not those that the operator wrote."""


def checked_text(job: Path) -> str:
    """The text of the job file, read once together with its neighbours in the volume and compared with the digest.

    What is used later is copied from what was compared: only an immutable volume never changes.

    Raises JobChangedError if they differ. An operator of release 0.1 gives no digest, and nothing is compared.
    """
    expected = os.environ.get(environment.JOB_DIGEST)
    if expected is None:
        return job.read_text(encoding="utf-8")
    # The kubelet's own entries of the volume, `..data` and its target, are directories.
    files = {file.name: _text(file) for file in job.parent.iterdir() if file.is_file()}
    if files_digest(files) != expected:
        raise JobChangedError(
            f"the job in {job.parent} is not the one that the operator wrote, so nothing was done. Find out who "
            "changed the run's ConfigMap: this operator needs no user with rights on ConfigMaps"
        )
    _keep_template(files)
    return files[job.name]


def _keep_template(files: Mapping[str, str]) -> None:
    """Copies the executors' Pod: Spark reads the file again for each executor that it creates."""
    template = os.environ.get(environment.EXECUTOR_TEMPLATE)
    if template is None or Path(template).name not in files:
        return
    copy = Path(os.environ.get(environment.TMPDIR, "/tmp")) / Path(template).name  # noqa: S108 - the Pod's own
    copy.write_text(files[copy.name], encoding="utf-8")
    os.environ[environment.EXECUTOR_TEMPLATE] = str(copy)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
