"""Manifests of tables by chance: a walk over the schema of the CRD, with names, types and texts of `domain`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.support import builders
from tests.support.crd_schema import schema
from tests.support.generated_manifests import domain
from tests.support.manifests import Manifest

_MISTAKE: Final = 0.03
_COLUMN_LISTS: Final = ("primaryKeys[]", "partitionKeys[]", "keys[]", "fields[]", "Fields[]", "columns[]", "Group[]")
"""Ends of paths whose texts name columns."""


def manifest(number: int) -> Manifest:
    """The manifest of this number: always the same one for one schema of the CRD and one set of engine data."""
    return builders.table_manifest(**_Walk(number).spec())


class _Walk:
    """One walk. The columns come first, because other fields name them."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)  # noqa: S311  (repeatable)
        self._keyed = self._chance(0.7)
        self._types: dict[str, str] = {}
        self._engine = ""

    def spec(self) -> dict[str, Any]:
        """The spec: its schema first, then every other block."""
        crd = schema("PaimonTable", "spec")
        parts = {"schema": self._schema(crd["properties"]["schema"])}
        for name, member in crd["properties"].items():
            path = f"spec.{name}"
            if name != "schema" and path not in domain.NEVER and self._chance(self._likelihood(path)):
                parts[name] = self._value(member, path)
        self._group_aggregates(parts)
        if parts.get("bucket", {}).get("type") == "Postpone" and self._chance(0.9):
            parts["compaction"] = {"mode": self._random.choice(["Dedicated", "External"])}
        return parts

    def _schema(self, crd: Mapping[str, Any]) -> dict[str, Any]:
        names = ["id", "day", "v", *self._random.sample(domain.NAMES[1:], self._random.choice([1, 2, 2, 3]))]
        if not self._chance(0.1):
            names = [name for name in names if name not in domain.NAMES[-3:]]
        self._types = {name: self._type(name) for name in names}
        self._engine = self._random.choice(["", "", "PartialUpdate", "Aggregation", "FirstRow"]) if self._keyed else ""
        parts: dict[str, Any] = {"columns": [self._column(crd, name) for name in names]}
        partitioned = self._chance(0.3)
        if self._keyed:
            parts["primaryKeys"] = (["day", "id"] if partitioned or self._chance(0.1) else ["id"]) + self._slip()
        if partitioned:
            parts["partitionKeys"] = (["day"] if self._chance(0.93) else ["v"]) + self._slip()
        for name in ("comment", "partitionDefaultName"):
            path = f"spec.schema.{name}"
            fits = partitioned or name == "comment" or self._slips()
            if fits and self._chance(domain.CHANCES[path]):
                parts[name] = self._random.choice(domain.TEXTS[path])
        return parts

    def _type(self, name: str) -> str:
        if self._slips():
            return self._random.choice(domain.WRONG_TYPES)
        if name in ("id", "day"):
            return self._random.choice(domain.PLAIN[:9] if not self._slips() else domain.NESTED)
        chosen = self._random.choice(domain.PLAIN if self._chance(0.75) else domain.NESTED)
        return chosen + (" NOT NULL" if self._chance(0.08) else "")

    def _column(self, crd: Mapping[str, Any], name: str) -> dict[str, Any]:
        members = crd["properties"]["columns"]["items"]["properties"]
        column: dict[str, Any] = {"name": name, "type": self._types[name]}
        aggregating = self._engine in ("Aggregation", "PartialUpdate") and name not in ("id", "day")
        for member in ("comment", "defaultValue"):
            path = f"spec.schema.columns[].{member}"
            if self._chance(domain.CHANCES[path]):
                column[member] = self._random.choice(domain.TEXTS[path])
        if "defaultValue" in column and self._chance(0.7):
            column["defaultValue"] = domain.DEFAULT_OF.get(self._types[name], "7")
        if self._chance(0.4 if aggregating else 0.01):
            column["aggregate"] = self._aggregate(members["aggregate"], name)
        return column

    def _aggregate(self, crd: Mapping[str, Any], column: str) -> dict[str, Any]:
        path = "spec.schema.columns[].aggregate"
        functions = crd["properties"]["function"]["enum"]
        fit = [each for each in functions if self._chance(0.15) or domain.merges(each, self._types[column])]
        function = self._random.choice(fit or functions)
        parts: dict[str, Any] = {"function": function}
        fitting = {"listagg": ("delimiter", "distinct"), "collect": ("distinct",), "nested_update": ("nestedKey",)}
        fitting |= {"nested_partial_update": ("nestedKey",)}
        for name, member in crd["properties"].items():
            likely = 0.6 if name in fitting.get(function, ()) else 0.1 if name == "ignoreRetract" else _MISTAKE
            if name != "function" and self._chance(likely):
                parts[name] = self._value(member, f"{path}.{name}")
        return parts

    def _value(self, crd: Mapping[str, Any], path: str) -> Any:
        if "enum" in crd:
            return self._enum(crd["enum"], path)
        made: dict[str, Callable[[], Any]] = {
            "object": lambda: self._options() if "additionalProperties" in crd else self._object(crd, path),
            "array": lambda: self._list(crd["items"], f"{path}[]"),
            "boolean": lambda: self._chance(0.8),
            "integer": lambda: self._whole(crd.get("minimum", 0)),
            "string": lambda: self._text(crd, path),
        }
        return made[crd["type"]]()

    def _list(self, crd: Mapping[str, Any], path: str) -> list[Any]:
        many = 1 if self._chance(0.75) else 2
        values = [self._value(crd, path) for _ in range(many)]
        return values[:1] if values[1:] == values[:1] and not self._slips() else values

    def _whole(self, least: int) -> int:
        return self._random.choice([least, least + 1, 3, 4, least - 1 if self._slips() else 5])

    def _enum(self, values: list[str], path: str) -> str:
        if path == "spec.mergeEngine.type" and self._engine and not self._slips():
            return self._engine
        if path == "spec.bucket.type" and not self._slips():
            fitting = {"Fixed", "Dynamic", "Postpone"} if self._keyed else {"Fixed", "Unaware"}
            values = [value for value in values if value in fitting]
        return self._random.choice(values)

    def _object(self, crd: Mapping[str, Any], path: str) -> dict[str, Any]:
        properties = dict(crd["properties"])
        parts: dict[str, Any] = {}
        if "type" in properties:
            parts["type"] = self._value(properties.pop("type"), f"{path}.type")
        own = parts.get("type", "")
        for name, member in properties.items():
            if f"{path}.{name}" in domain.NEVER:
                continue
            required = name in crd.get("required", ())
            if required or self._chance(self._fit(f"{path}.{name}", own, name, member)):
                parts[name] = self._value(member, f"{path}.{name}")
        return parts

    def _fit(self, path: str, own: str, name: str, member: Mapping[str, Any]) -> float:
        """How likely a field is set: a member of a union by its type."""
        if path in ("spec.compaction.minor", "spec.compaction.full") or not own:
            return self._likelihood(path)
        if member["type"] == "object":
            is_own = name == own[:1].lower() + own[1:]
            return 0.97 if is_own and own == "Fixed" else 0.6 if is_own else _MISTAKE
        if path == "spec.changelogProducer.rowDeduplicate" and own not in ("Lookup", "FullCompaction"):
            return _MISTAKE
        if path == "spec.bucket.fixed.keys" and not self._keyed:
            return 0.95
        return self._likelihood(path)

    def _likelihood(self, path: str) -> float:
        """How often an optional field is set; blocks of tables with keys rarely without."""
        needs_keys = ("spec.mergeEngine", "spec.sequence", "spec.changelogProducer")
        if path in needs_keys and not self._keyed:
            return _MISTAKE
        if path == "spec.mergeEngine" and self._engine:
            return 0.98
        if path == "spec.sequence" and self._engine == "FirstRow":
            return _MISTAKE
        return domain.CHANCES.get(path, domain.USUAL_CHANCE)

    def _text(self, crd: Mapping[str, Any], path: str) -> str:
        if path in domain.TEXTS:
            return self._common(domain.TEXTS[path])
        if path.endswith((*_COLUMN_LISTS, "rowKindField")):
            return self._column_name(path)
        if crd.get("format") == "duration":
            return self._common(domain.DURATIONS)
        return self._common(domain.CRONS if path.endswith("schedule") else domain.SIZES)

    def _column_name(self, path: str) -> str:
        if self._slips():
            return "nope"
        if path == "spec.bucket.fixed.keys[]" and self._keyed:
            return "id"
        free = [name for name in self._types if name not in ("id", "day")] or ["id"]
        texts = [name for name in free if self._types[name] in ("STRING", "VARCHAR(20)")]
        if path.endswith("rowKindField") and texts:
            return self._random.choice(texts)
        plain = [name for name in free if self._types[name].removesuffix(" NOT NULL") in domain.PLAIN]
        return self._random.choice(plain if plain and not path.endswith("columns[]") else free)

    def _options(self) -> dict[str, str]:
        known = domain.REFUSED_OPTIONS if self._chance(0.06) else domain.OPTIONS
        chosen = self._random.sample(sorted(known), self._random.choice([1, 1, 2]))
        return {key: self._common(known[key]) for key in chosen}

    def _common(self, values: tuple[str, ...]) -> str:
        """Mostly one of the first values, which are right."""
        return self._random.choice(values[:2] if self._chance(0.85) else values)

    def _group_aggregates(self, parts: dict[str, Any]) -> None:
        """PartialUpdate aggregates columns of groups only: mostly there is one for all of them, ordered by a column."""
        engine = parts.get("mergeEngine", {})
        columns = parts["schema"]["columns"]
        aggregated = [each["name"] for each in columns if "aggregate" in each]
        plain = [each["name"] for each in columns if "aggregate" not in each and each["name"] not in ("id", "day")]
        if engine.get("type") == "PartialUpdate" and aggregated and plain and self._chance(0.8):
            groups = [{"sequenceFields": plain[:1], "columns": aggregated}]
            engine["partialUpdate"] = {**engine.get("partialUpdate", {}), "sequenceGroups": groups}

    def _slip(self) -> list[str]:
        return ["nope"] if self._slips() else []

    def _slips(self) -> bool:
        return self._chance(_MISTAKE)

    def _chance(self, likely: float) -> bool:
        return self._random.random() < likely
