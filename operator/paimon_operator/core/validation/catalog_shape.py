"""Fields of a catalog's manifest that belong together or exclude each other.

The CRD has the same rules in CEL. They are repeated here because the API server may have stored the object under an
older CRD, and such an object must not reach Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from paimon_operator.api.catalog.metastore import (
    CREDENTIAL_PARAMETERS,
    MAX_PORT,
    MEMBERS,
    NAMES_OF_HIVE,
    PERMITTED_PARAMETERS,
    Metastore,
    MetastoreType,
)
from paimon_operator.api.catalog.spec import PaimonCatalog, PaimonCatalogSpec
from paimon_operator.api.catalog.storage import SCHEMES
from paimon_operator.api.policies import EnforcedBlock
from paimon_operator.core.validation.storage_shape import storage_problems
from paimon_operator.core.validation.table_shape import compaction_problems, memory_problems, name_problems
from paimon_operator.errors import SpecError

_DEFAULTS: Final = "spec.tableDefaults"


def catalog_shape(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Blocks that do not fit their `type`, places outside the storage, sizes out of bounds, names used twice."""
    spec = catalog.spec
    yield from name_problems(catalog.metadata.name)
    yield from storage_problems(spec.storage)
    yield from _scheme_problems(spec)
    yield from _location_name_problems(spec)
    if spec.metastore is not None:
        yield from _member_problems(spec.metastore)
        yield from _uri_problems(spec.metastore)
        yield from _database_problems(spec)
    yield from _enforced_problems(spec)
    if spec.table_defaults is not None:
        yield from compaction_problems(spec.table_defaults.compaction, f"{_DEFAULTS}.compaction")
    yield from memory_problems(spec.spark)
    yield from memory_problems(spec.limits.spark if spec.limits else None, "spec.limits.spark")


def _enforced_problems(spec: PaimonCatalogSpec) -> Iterator[SpecError]:
    retention = spec.table_defaults.retention if spec.table_defaults else None
    if EnforcedBlock.ORPHAN_FILES in spec.enforced and (retention is None or retention.orphan_files is None):
        yield SpecError(
            "spec.enforced",
            "OrphanFiles is enforced, and there is no block to enforce",
            "Set tableDefaults.retention.orphanFiles, or remove OrphanFiles.",
        )


def _scheme_problems(spec: PaimonCatalogSpec) -> Iterator[SpecError]:
    for member, scheme in SCHEMES.items():
        if getattr(spec.storage, member) is None:
            continue
        places = {"spec.warehouse": spec.warehouse}
        places |= {f"spec.locations[{index}].uri": each.uri for index, each in enumerate(spec.locations)}
        for path, uri in places.items():
            if not uri.startswith(f"{scheme}://"):
                yield SpecError(
                    path, f"{uri} is not on storage.{member}", f"Name a place that begins with {scheme}://."
                )


def _location_name_problems(spec: PaimonCatalogSpec) -> Iterator[SpecError]:
    names = [location.name for location in spec.locations]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield SpecError(
                f"spec.locations[{index}].name", f"two locations are called {name!r}", "Give each its own name."
            )


def _member_problems(metastore: Metastore) -> Iterator[SpecError]:
    for kind, member in MEMBERS.items():
        given = getattr(metastore, member) is not None
        if metastore.type is kind and not given:
            yield SpecError(f"spec.metastore.{member}", f"the field must be set when type is {kind}", "Set the field.")
        if metastore.type is not kind and given:
            yield SpecError(
                f"spec.metastore.{member}", f"the field must not be set unless type is {kind}", "Remove the field."
            )


def _uri_problems(metastore: Metastore) -> Iterator[SpecError]:
    """Never quotes a JDBC uri: it may hold a password."""
    if metastore.jdbc is not None:
        path, uri = "spec.metastore.jdbc.uri", metastore.jdbc.uri
        if "@" in uri or re.search(CREDENTIAL_PARAMETERS, uri):
            yield SpecError(
                path, "the uri contains credentials", "Put them into the Secret that credentialsSecretRef names."
            )
        elif not re.fullmatch(PERMITTED_PARAMETERS, uri):
            yield SpecError(path, "the uri has a parameter that may not be set", "Remove it; see docs/storage.md.")
    if metastore.hive is not None and int(metastore.hive.uri.rpartition(":")[2]) > MAX_PORT:
        yield SpecError("spec.metastore.hive.uri", f"a port is at most {MAX_PORT}", "Correct the port.")


def _database_problems(spec: PaimonCatalogSpec) -> Iterator[SpecError]:
    if spec.metastore is None or spec.metastore.type is not MetastoreType.HIVE:
        return
    for index, name in enumerate(spec.allowed_databases):
        if not re.fullmatch(NAMES_OF_HIVE, name):
            yield SpecError(
                f"spec.allowedDatabases[{index}]",
                f"the metastore Hive does not keep the name {name!r}",
                "Use lower-case letters, digits and underscores.",
            )
