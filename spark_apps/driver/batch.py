"""A driver's program for the jobs of several runs, one after the other in one JVM: `batch.py`.

Jobs and configuration come from the Pod's own variables (paimon_contract.turns). Before each job the driver asks the
operator whether the run's turn begins, and reports the result of the turn before. A turn that is not begun was not
touched. A result that could not be reported becomes the termination message: there is at most one.

The exit code is 0 unless something has ended the process: the class of a failure is in each run's own result.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paimon_contract import environment
from paimon_contract.documents import DocumentError, to_text
from paimon_contract.exit_codes import ExitCode
from paimon_contract.job import Job, JobError
from paimon_contract.turns import MAX_BYTES, BatchConfig, TurnOf, TurnReport, TurnRequest, job_texts, read_config
from spark_apps.driver import main as with_jvm
from spark_apps.driver import without_jvm
from spark_apps.driver.dispatch import operation_of, read_job, without_jvm_of
from spark_apps.driver.process import Performed
from spark_apps.driver.turns import NotAnsweredError, TurnClient
from spark_apps.operator_http import OperatorHttp
from spark_apps.progress import log_error, log_exception, log_step, log_steps_of


@dataclass
class TurnLoop:
    """The jobs of one driver. `is_usable` tells whether the JVM may perform another job."""

    jobs: Sequence[Job]
    ask: Callable[[TurnRequest], bool]
    perform: Callable[[Job], Performed]
    is_usable: Callable[[], bool]
    has_time: Callable[[], bool]
    unreported: TurnReport | None = None

    def run(self) -> None:
        """Performs the jobs whose turn begins. Afterwards `unreported` is the result that the operator has not taken.

        Ends early when the operator does not answer, the time is over, or a job has left the JVM unusable.
        """
        try:
            for job in self.jobs:
                if not self.has_time():
                    log_step("the time for new turns is over")
                    break
                if self._begins(job):
                    self._perform(job)
                    if not self.is_usable():
                        log_step("the JVM cannot be used for another job")
                        break
            if self.unreported is not None:
                self._send(None)
        except NotAnsweredError as error:
            log_step(f"the batch ends, because the operator does not answer: {error}")

    def _begins(self, job: Job) -> bool:
        log_steps_of(job)
        begins = self._send(TurnOf(name=job.run.name, uid=job.run.uid))
        log_step(f"the turn of run {job.run.name} begins" if begins else f"no turn for run {job.run.name}")
        return begins

    def _send(self, following: TurnOf | None) -> bool:
        begins = self.ask(TurnRequest(report=self.unreported, next=following))
        self.unreported = None
        return begins

    def _perform(self, job: Job) -> None:
        document, _ = self.perform(job)
        text = to_text(document)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self.unreported = TurnReport(run=TurnOf(name=job.run.name, uid=job.run.uid), result=text)
        log_steps_of(None)


def perform(job: Job) -> Performed:
    """The result document and the exit code of one job, without Spark where that is enough."""
    if without_jvm_of(operation_of(job.operation)) is not None:
        performed = without_jvm.perform(job)
        if performed is not None:
            return performed
    return with_jvm.perform(job)


def is_usable() -> bool:
    """Whether the JVM answers and no Spark context of the last job is left in it."""
    from pyspark import SparkContext  # noqa: PLC0415  (pyspark takes long to import)

    if SparkContext._gateway is None:
        return True
    try:
        SparkContext._gateway.jvm.java.lang.System.nanoTime()
    except Exception:  # noqa: BLE001  (whatever it is, the next job would meet it)
        log_exception()
        return False
    return SparkContext._active_spark_context is None


def main() -> int:
    """Runs the batch that the environment describes and returns the exit code."""
    try:
        config = read_config(os.environ.get(environment.BATCH_CONFIG, ""))
        jobs = [read_job(text) for text in job_texts(os.environ)]
    except (DocumentError, JobError) as error:
        log_error(f"cannot read the jobs: {error}")
        return int(ExitCode.INFRASTRUCTURE)
    loop = _loop(config, jobs)
    loop.run()
    if loop.unreported is not None:
        log = Path(os.environ.get(environment.TERMINATION_LOG, "/dev/termination-log"))
        log.write_text(loop.unreported.result, encoding="utf-8")
    return int(ExitCode.OK)


def _loop(config: BatchConfig, jobs: Sequence[Job]) -> TurnLoop:
    client = TurnClient(OperatorHttp(config.url, Path(config.token_file), MAX_BYTES))
    until = time.monotonic() + config.seconds
    return TurnLoop(jobs, client.ask, perform, is_usable, has_time=lambda: time.monotonic() < until)


if __name__ == "__main__":
    sys.exit(main())
