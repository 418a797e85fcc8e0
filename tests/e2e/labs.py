"""Labs for as long as a block lasts: a namespace with its catalog, under Pod Security `restricted`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.cluster import release
from tests.cluster.hdfs import on_node
from tests.cluster.hive.metastore import Metastore
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import HdfsLab
from tests.e2e.hive_lab import HiveLab
from tests.e2e.lab import Lab
from tests.support import secret_search
from tests.support.kubectl import Kubectl, Object


@dataclass(frozen=True)
class Node:
    """Where a lab is made."""

    env: Mapping[str, str]
    layout: Layout


def engine_of(request: pytest.FixtureRequest) -> str:
    """The one that the test asks for, or the newest."""
    wanted: str = request.getfixturevalue("each_engine") if "each_engine" in request.fixturenames else ""
    return wanted or release.newest_engine()


def name_of(request: pytest.FixtureRequest) -> str:
    """A namespace for this test, or class of tests, of this run of the suite."""
    unique = f"{request.node.nodeid} {engine_of(request)} {os.getpid()}"
    return "e2e-" + hashlib.sha256(unique.encode()).hexdigest()[:8]


@contextmanager
def lab_in(node: Node, name: str, engine: str) -> Iterator[Lab]:
    """With the Secret `lake-s3` and the catalog `lake`."""
    made = Lab(kubectl=Kubectl(namespace=name, env=node.env), env=node.env, engine=engine, layout=node.layout)
    with _opened(made, made.secret()):
        yield made


@contextmanager
def hdfs_lab_in(env: Mapping[str, str], name: str, engine: str, kind: str) -> Iterator[HdfsLab]:
    """The catalog is on HDFS, with nothing else in it. `kind` is one of `tests.cluster.hdfs.on_node`."""
    hdfs = on_node.start(Layout(), kind)
    made = HdfsLab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine, hdfs=hdfs)
    with _opened(made, *made.surroundings()):
        yield made


@contextmanager
def hive_lab_in(env: Mapping[str, str], name: str, engine: str, hive: Metastore) -> Iterator[HiveLab]:
    """The catalog is on S3 and keeps its list of tables in the Hive metastore."""
    made = HiveLab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine, hive=hive)
    with _opened(made, made.secret()):
        yield made


@contextmanager
def _opened(lab: Lab, *objects: Object) -> Iterator[None]:
    """The namespace's deletion is left to finish in the background.

    Logs go with their Pods, and are searched for secrets before; all the rest is at the end of the session.
    """
    lab.kubectl.apply(release.restricted_namespace(lab.namespace))
    lab.kubectl.apply(*objects, lab.catalog())
    yield
    leaked = secret_search.in_logs_of(lab.namespace, lab.layout)
    lab.kubectl.run("delete", "namespace", lab.namespace, "--wait=false")
    assert leaked == []
