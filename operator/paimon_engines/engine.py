"""The engines this release supports, read from engines.yaml, and the generated data about each."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True)
class Jar:
    """One jar by Maven coordinates; `sha256` is None where only the place it comes from can vouch for it."""

    artifact: str
    sha256: str | None

    @property
    def file_name(self) -> str:
        """The name Maven gives the file: artifact-version.jar."""
        _, name, version = self.artifact.split(":")
        return f"{name}-{version}.jar"


@dataclass(frozen=True)
class Engine:
    """A pair of Paimon and Spark. Field names follow engines.yaml, which explains them."""

    id: str
    paimon: str
    spark: str
    pyspark: str
    java: int
    scala: str
    jars: tuple[Jar, ...]
    frozen_options: tuple[str, ...]
    metastores: tuple[str, ...]
    locks: tuple[str, ...]
    s3_catalog_options: dict[str, str]
    jdbc_catalog_options: dict[str, str]
    hive_catalog_options: dict[str, str]
    input_hadoop_options: dict[str, str]
    endpoint_keys: tuple[str, str]
    """How the endpoint is called on Paimon's way to S3, and on Hadoop's."""
    region_keys: tuple[str, str]
    provider_keys: tuple[str, str]
    """How the option is called that names where credentials come from."""
    providers: dict[str, str]
    """Class that credentials come from -> "file" or "workload"; the usual one takes them from the environment."""
    immutable_options: frozenset[str] = field(default=frozenset())
    option_defaults: dict[str, str | None] = field(default_factory=dict)
    procedures: frozenset[tuple[str, str]] = field(default=frozenset())

    def changeable(self, option: str) -> bool:
        """Whether `option` may change on a table that may already hold data."""
        if option in self.immutable_options:
            return False
        return not any(
            option == name or (name.endswith("*") and option.startswith(name[:-1])) for name in self.frozen_options
        )

    def takes(self, procedure: str, argument: str) -> bool:
        """Whether this engine's `sys.<procedure>` has an argument of that name."""
        return (procedure, argument) in self.procedures


def _package_text(*names: str) -> str:
    path = resources.files("paimon_engines")
    for name in names:
        path = path / name
    return path.read_text(encoding="utf-8")


def _engine(identifier: str, entry: dict[str, Any], generated: dict[str, Any]) -> Engine:
    options = generated.get("options", {})
    return Engine(
        id=identifier,
        paimon=entry["paimon"],
        spark=entry["spark"],
        pyspark=entry["pyspark"],
        java=entry["java"],
        scala=entry["scala"],
        jars=tuple(Jar(jar["artifact"], jar["sha256"]) for jar in [*entry["jars"], *entry["inputJars"]]),
        frozen_options=tuple(entry["frozenOptions"]),
        metastores=tuple(entry["metastores"]),
        locks=tuple(entry["locks"]),
        s3_catalog_options=dict(entry["s3"]["catalogOptions"]),
        jdbc_catalog_options=dict(entry.get("jdbc", {}).get("catalogOptions", {})),
        hive_catalog_options=dict(entry.get("hive", {}).get("catalogOptions", {})),
        input_hadoop_options=dict(entry["input"]["hadoopOptions"]),
        endpoint_keys=(entry["s3"]["endpointKey"], entry["input"]["endpointKey"]),
        region_keys=(entry["s3"]["regionKey"], entry["input"]["regionKey"]),
        provider_keys=(entry["s3"]["providerKey"], entry["input"]["providerKey"]),
        providers={name: kind for way in ("s3", "input") for kind, name in entry[way]["providers"].items()},
        immutable_options=frozenset(name for name, option in options.items() if option["immutable"]),
        option_defaults={name: option["default"] for name, option in options.items()},
        procedures=_arguments(generated.get("procedures", {})),
    )


def _arguments(procedures: dict[str, Any]) -> frozenset[tuple[str, str]]:
    return frozenset((name, each["name"]) for name, found in procedures.items() for each in found["arguments"])


@functools.cache
def supported_engines() -> dict[str, Engine]:
    """All engines by id, oldest first, without generated data: enough to fetch jars and to generate."""
    listed = yaml.safe_load(_package_text("engines.yaml"))["engines"]
    return {identifier: _engine(identifier, entry, {}) for identifier, entry in listed.items()}


@functools.cache
def load_engine(identifier: str) -> Engine:
    """One engine with its generated data. Raises KeyError for an id that engines.yaml does not list."""
    listed = yaml.safe_load(_package_text("engines.yaml"))["engines"]
    generated = json.loads(_package_text(f"{identifier}.json"))
    return _engine(identifier, listed[identifier], generated)
