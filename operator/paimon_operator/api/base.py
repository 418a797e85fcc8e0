"""Base of the API models: the base model, bounded field types, and helpers that write CEL rules.

Every list, map and text has a bound: the API server estimates the cost of a CEL rule from the bounds and rejects a CRD
without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

GROUP = "paimon-operator.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

MAX_COLUMNS = 500
"""More than 500 columns install, but updates then exceed the API server's run-time limit for CEL."""

MAX_SPEC_BYTES: Final = 256 * 1024
"""Most bytes of a spec, as compact JSON in UTF-8. Without it an object may have 1.5 MiB, the limit of etcd."""
SPEC_REST_BYTES: Final = 20 * 1024
"""The part of `MAX_SPEC_BYTES` for all but the large lists and maps of a spec. CEL rules count those only."""

Json = dict[str, Any]
"""A JSON document at the border; everything inside is typed."""


class ApiModel(BaseModel):
    """Base of all API models: immutable, camelCase on the wire, unknown fields ignored (the API server prunes them)."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        frozen=True,
        use_attribute_docstrings=True,
    )

    def to_json(self) -> Json:
        """The object as sent to the API server: camelCase, without null values and empty lists."""
        document: Json = _without_empty_lists(self.model_dump(mode="json", by_alias=True, exclude_none=True))
        return document


def _without_empty_lists(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_empty_lists(value) for key, value in node.items() if value != []}
    if isinstance(node, list):
        return [_without_empty_lists(value) for value in node]
    return node


def rule(
    expression: str, message: str, *, path: str = "", reason: str = "FieldValueInvalid", message_expression: str = ""
) -> Json:
    """A CEL rule. `path` names the wrong field, relative to the model that has the rule (`.primaryKeys`).

    `message_expression` is a CEL expression for a message that quotes the value; `message` is used if it fails.
    `reason` must not be FieldValueDuplicate: the API server then leaves the message out.
    """
    validation = {"rule": expression, "message": message, "reason": reason}
    extra = {"fieldPath": path, "messageExpression": message_expression}
    return validation | {key: value for key, value in extra.items() if value}


def cel_list(words: Iterable[str]) -> str:
    """A list of texts in CEL. The texts are the code's own: a quote in one is not escaped."""
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def first_broken(conditions: Mapping[str, str]) -> str:
    """CEL for a message: the name of the first condition that does not hold. Empty if all hold."""
    return "(" + "".join(f"!({condition}) ? '{name}' : " for name, condition in conditions.items()) + "'')"


def not_larger(total: str, remedy: str, *, path: str = "", unless: str = "") -> Json:
    """A CEL rule for the size of a spec; `total` is the number of bytes of its large lists and maps.

    It counts the UTF-8 of all texts, and for the names of fields at least their size. Characters that JSON escapes
    count once, so that reconcile checks the size again. `unless` is a condition that only small specs fulfil: it costs
    less than to count.
    """
    limit = f"must be at most {MAX_SPEC_BYTES // 1024} KiB as JSON: {remedy}"
    small = f"{unless} || " if unless else ""
    return rule(f"{small}{total} <= {MAX_SPEC_BYTES - SPEC_REST_BYTES}", limit, path=path, reason="FieldValueForbidden")


def with_rules(*rules: Json) -> Json:
    """Schema of a value with CEL rules for the CRD. `self` is the value.

    A rule about one field costs less at the field than at its object: the API server copies all properties of an
    object at each read of one.
    """
    return {"x-kubernetes-validations": list(rules)}


def validated(*rules: Json) -> ConfigDict:
    """Model configuration with CEL rules for the CRD."""
    return ConfigDict(json_schema_extra=with_rules(*rules))


def keyed_by(*keys: str) -> Json:
    """Schema of a list whose entries have a key: the API server rejects duplicates, server-side apply merges by key."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def truncated(text: str, limit: int) -> str:
    """`text`, at most `limit` characters long; a longer one ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def truncated_to_bytes(text: str, limit: int) -> str:
    """`text`, at most `limit` bytes long in UTF-8; a longer one ends with an ellipsis, which takes 3 bytes."""
    encoded = text.encode()
    return text if len(encoded) <= limit else encoded[: limit - 3].decode(errors="ignore") + "…"


def printable(text: str) -> str:
    """`text` without what a terminal would interpret: each such character becomes a space."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def to_the_second(moment: datetime) -> datetime:
    """The time in UTC without fractions, so that a time read back from the API server equals the time written."""
    return moment.astimezone(UTC).replace(microsecond=0)


def rfc3339(moment: datetime) -> str:
    """`2026-11-21T08:00:00Z`, the form of every time in a Kubernetes object."""
    return to_the_second(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


Time = Annotated[
    AwareDatetime, AfterValidator(to_the_second), PlainSerializer(rfc3339, return_type=str, when_used="json")
]

LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DURATION_PATTERN: Final = r"^[1-9][0-9]{0,4}(s|m|h|d)$"


def _at_most(days: int) -> Json:
    """Schema of a duration with a longest value: a Pod's deadline is a 32-bit number of seconds."""
    limit = rule(f"self <= duration('{24 * days}h')", f"must be at most {days}d")
    return {"format": "duration"} | with_rules(limit)


LONGEST_DEADLINE_D: Final = 30
LONGEST_DURATION_D: Final = 24_000
"""Days. Sums of times and durations stay far from the last year of the calendar."""
Deadline = Annotated[str, Field(pattern=DURATION_PATTERN, max_length=6, json_schema_extra=_at_most(LONGEST_DEADLINE_D))]
Duration = Annotated[str, Field(pattern=DURATION_PATTERN, max_length=6, json_schema_extra=_at_most(LONGEST_DURATION_D))]
"""`90s 15m 12h 7d`. The pattern is needed beside the format, which alone takes `7d and junk`."""
Percent = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]?|100)%$", max_length=4)]
"""`20%`. The conventions of the Kubernetes API advise against fractions."""
PositivePercent = Annotated[str, Field(pattern=r"^([1-9][0-9]?|100)%$", max_length=4)]
"""The same without `0%`."""
Memory = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}(Mi|Gi)$", max_length=8)]
_CRON_FIELD = "[0-9A-Za-z*,/#-]+"
Cron = Annotated[str, Field(pattern=f"^{_CRON_FIELD}( {_CRON_FIELD}){{4}}$", min_length=9, max_length=100)]
"""Five fields, one space between them: minute, hour, day of month, month, day of week."""
TimeZone = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$", max_length=64)]
"""An IANA name. Reconcile checks that it exists in the time zone database."""
ResourceName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", min_length=1, max_length=253)]
ShortName = Annotated[str, Field(pattern=LABEL, min_length=1, max_length=48)]
"""Name of a table or catalog. Names of runs and Pods contain it, so it is short."""
MemberName = Annotated[str, Field(pattern=LABEL, min_length=1, max_length=40)]
RunName = Annotated[str, Field(pattern=LABEL, min_length=1, max_length=60)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]*$", min_length=1, max_length=128)]
"""A database or table in Paimon. It becomes a directory, so `/` and `.` are excluded; `$` marks system tables."""
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", min_length=1, max_length=128)]
EngineName = Annotated[str, Field(pattern=r"^paimon-[0-9]+\.[0-9]+$", max_length=32)]
OptionValue = Annotated[str, Field(pattern="^[^$]*$", max_length=256)]
"""An option's value, without `$`: Hadoop expands `${env.NAME}`, and the Pod's environment holds Secret values."""
Place = Annotated[str, Field(max_length=2048)]
"""Warehouse on its server, in normal form; of a table with its database and its name."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$", max_length=64)]
MESSAGE_LENGTH: Final = 2048


def _cut(text: object) -> object:
    """A text cut to the length of a message. It may repeat what users wrote, at any length."""
    return truncated(text, MESSAGE_LENGTH) if isinstance(text, str) else text


Message = Annotated[str, BeforeValidator(_cut), Field(max_length=MESSAGE_LENGTH)]
"""A text for humans. A longer one is cut, so that no message makes a status that the API server refuses."""
ReasonText = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$", min_length=1, max_length=64)]
"""A member of `api.reasons.Reason`. It is text, so that an older operator can read the status of a newer one."""
Int32 = Annotated[int, Field(ge=0, le=2**31 - 1, json_schema_extra={"format": "int32"})]
Positive = Annotated[int, Field(ge=1, le=2**31 - 1, json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Field(ge=-1, json_schema_extra={"format": "int64"})]
"""Without a maximum: the API server reads 2^63-1 as a float and then rejects every number."""


class LocalRef(ApiModel):
    """A reference inside the namespace."""

    name: ResourceName
    """Name of the object in the same namespace."""


class CatalogRef(ApiModel):
    """The catalog of a table."""

    name: ShortName
    """Name of a PaimonCatalog in the same namespace."""


class OwnerReference(ApiModel):
    """Owner of an object."""

    uid: str = ""
    controller: bool = False


class ObjectMeta(ApiModel):
    """The metadata fields that the operator reads."""

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def controller_uid(self) -> str | None:
        """UID of the controller, None without one."""
        return next((reference.uid for reference in self.owner_references if reference.controller), None)
