"""Labs as context managers: a namespace under Pod Security `restricted`, with its catalog."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
    """The node of a lab."""

    env: Mapping[str, str]
    layout: Layout
    images: Mapping[str, Any] = field(default_factory=dict)
    """What the operator of a second node is installed from."""


def name_of(request: pytest.FixtureRequest, engine: str) -> str:
    """Returns the name of a namespace that is unique for this test or class in this session."""
    unique = f"{request.node.nodeid} {engine} {os.getpid()}"
    return "e2e-" + hashlib.sha256(unique.encode()).hexdigest()[:8]


@contextmanager
def lab_in(node: Node, name: str, engine: str) -> Iterator[Lab]:
    """Creates a lab with the Secret `lake-s3` and the catalog `lake`."""
    made = Lab(kubectl=Kubectl(namespace=name, env=node.env), env=node.env, engine=engine, layout=node.layout)
    with _in_namespace(made, made.secret()):
        yield made


@contextmanager
def hdfs_lab_in(env: Mapping[str, str], name: str, engine: str, kind: str) -> Iterator[HdfsLab]:
    """Creates a lab with an empty catalog on HDFS. `kind` is one of `tests.cluster.hdfs.on_node`."""
    hdfs = on_node.start(Layout(), kind)
    made = HdfsLab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine, hdfs=hdfs)
    with _in_namespace(made, *made.surroundings()):
        yield made


@contextmanager
def hive_lab_in(env: Mapping[str, str], name: str, engine: str, hive: Metastore) -> Iterator[HiveLab]:
    """Creates a lab whose catalog is on S3 and in the Hive metastore."""
    made = HiveLab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine, hive=hive)
    with _in_namespace(made, made.secret()):
        yield made


@contextmanager
def _in_namespace(lab: Lab, *objects: Object) -> Iterator[None]:
    """Creates the namespace and its objects; afterwards deletes the namespace without waiting.

    The deletion removes the Pods' logs, so it searches them for secrets first. The session's end searches the rest.
    """
    lab.kubectl.apply(release.restricted_namespace(lab.namespace))
    lab.kubectl.apply(*objects, lab.catalog())
    yield
    leaked = secret_search.in_logs_of(lab.namespace, lab.layout)
    lab.kubectl.run("delete", "namespace", lab.namespace, "--wait=false")
    assert leaked == []
