"""Where the Spark work of a run is done: in the driver's own Pod, or by executors."""

from __future__ import annotations

from paimon_operator.api.base import ApiModel, Hash, Memory, Message, Positive
from paimon_operator.api.spark import SparkMode


class RunExecutors(ApiModel):
    """Executors that the driver of every attempt asks for."""

    instances: Positive
    """Number of executors."""
    cores: Positive
    """CPUs of each."""
    memory: Memory
    """Memory of each."""


class RunSpark(ApiModel):
    """Mode of all attempts. It is decided before the first attempt."""

    mode: SparkMode
    """Local or Cluster."""
    message: Message
    """Why the mode was selected."""
    access_hash: Hash | None = None
    """Hash of the account and storage access in the executor Pod template, in mode Cluster. If an edit of the catalog
    changes it, the run gets no further attempt."""
    executors: RunExecutors | None = None
    """Executors of every attempt, in mode Cluster."""
