"""Rules about writes and the locations that they read: an error in a location stops the writes from it alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.writes import WriteMode
from paimon_operator.core.spec import identity
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.catalog_shape import catalog_shape
from paimon_operator.errors import SpecError

LOCATIONS: Final = "spec.locations["
"""Begins the field of an error in a location of a catalog."""


def writes_of(context: TableContext) -> Iterator[SpecError]:
    """Writes: the location is known, the mode fits the table, the name is unique."""
    keyed, names = bool(context.spec.table_schema.primary_keys), set()
    for index, write in enumerate(context.spec.writes):
        path = f"spec.writes[{index}]"
        if write.name in names:
            yield SpecError(f"{path}.name", f"two writes are called {write.name!r}", "Give each its own name.")
        names.add(write.name)
        if (error := _location_problem(context.catalog, write.source.files.location, path)) is not None:
            yield error
        if write.mode is WriteMode.UPSERT and not keyed:
            yield SpecError(f"{path}.mode", "Upsert needs a primary key", "Use Append, or set primaryKeys.")
        if write.mode is WriteMode.APPEND and keyed:
            yield SpecError(
                f"{path}.mode", "rows of a table with a primary key merge, they are not appended", "Use Upsert."
            )


def _location_problem(catalog: PaimonCatalog, name: str, path: str) -> SpecError | None:
    """Why the write at `path` cannot read from the location: the catalog lacks it, or it is wrong there."""
    field, names = f"{path}.from.files.location", [location.name for location in catalog.spec.locations]
    if name not in names:
        return SpecError(
            field,
            f"PaimonCatalog {catalog.metadata.name} has no location {name!r}",
            f"Use one of: {', '.join(names) or 'none yet'}; or have it added to the catalog's locations.",
            reason=Reason.LOCATION_NOT_FOUND,
        )
    own = f"{LOCATIONS}{names.index(name)}]"
    problems = (*catalog_shape(catalog), *location_problems(catalog))
    wrong = next((each for each in problems if each.field.startswith(own)), None)
    if wrong is None:
        return None
    return SpecError(field, f"{wrong.field} of PaimonCatalog {catalog.metadata.name}: {wrong.problem}", wrong.remedy)


def location_problems(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Locations inside the warehouse or around it: the warehouse's own files would be read as input."""
    for index, location in enumerate(catalog.spec.locations):
        if identity.inside(location.uri, catalog.spec.warehouse) or identity.inside(
            catalog.spec.warehouse, location.uri
        ):
            yield SpecError(
                f"spec.locations[{index}].uri",
                f"{location.uri} and the warehouse {catalog.spec.warehouse} lie inside one another",
                "Put input files beside the warehouse, best into a bucket of their own.",
            )
