"""Paimon's catalog in this JVM, and what it is opened with. Jobs with the same options share these objects.

For each new one, Hadoop reads its defaults again, and Paimon sends six requests to the warehouse. Only the last options
are remembered, because a driver works for one catalog. Turns that begin at the same moment may each make their own:
a lock would let one wait for the other's slow storage, and saved nothing measurable.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Options = tuple[tuple[str, str], ...]


def options_of(given: Mapping[str, str]) -> Options:
    """The options as an argument of the functions below."""
    return tuple(sorted(given.items()))


@lru_cache(maxsize=1)
def hadoop_configuration(jvm: Any, hadoop: Options) -> Any:
    """Hadoop's Configuration (Java) with these options. Nobody may change it."""
    configuration = jvm.org.apache.hadoop.conf.Configuration()
    for key, value in hadoop:
        configuration.set(key, value)
    return configuration


@lru_cache(maxsize=1)
def catalog_context(jvm: Any, options: Options, hadoop: Options) -> Any:
    """The CatalogContext (Java) that catalogs and file systems are opened with."""
    of_java = jvm.org.apache.paimon.options.Options()
    for key, value in options:
        of_java.set(key, value)
    return jvm.org.apache.paimon.catalog.CatalogContext.create(of_java, hadoop_configuration(jvm, hadoop))


@lru_cache(maxsize=1)
def catalog(jvm: Any, options: Options, hadoop: Options) -> Any:
    """Paimon's Catalog (Java), for a kind that has no connection of its own: nobody closes it."""
    return jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog(catalog_context(jvm, options, hadoop))
