"""Rules and queries of Prometheus with all their times divided by one factor.

A test cannot wait for an hour. With the factor 120, an hour of the rules passes in 30 s. Other numbers stay, such as
counts, shares and rates. promtool tests the rules themselves (`tests/alerts`).
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, Final

Document = dict[str, Any]
_UNIT_MS: Final = {
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "y": 31_536_000_000,
}  # fmt: skip
_PART: Final = re.compile(r"(\d+)(ms|[smhdwy])")
_DURATION: Final = r"(?:\d+(?:ms|[smhdwy]))+"
_RANGE: Final = re.compile(rf"(?<=[\[:])({_DURATION})(?=[\]:])|(?<=\boffset )({_DURATION})")
"""A range, the step of a subquery, or an offset."""
_THRESHOLD: Final = re.compile(r"(_seconds(?:\{[^}]*\})?\)* [<>]=? )(\d+(?:\.\d+)?)")
"""A number that is compared with a metric of seconds. A `..._seconds_sum` within rate() is no metric of seconds."""
_TIMES: Final = ("for", "keep_firing_for")


def scaled_rules(document: Document, factor: int) -> Document:
    """A copy of a file of rules, faster by `factor`."""
    scaled = deepcopy(document)
    for rule in (rule for group in scaled["groups"] for rule in group["rules"]):
        rule["expr"] = scaled_query(rule["expr"], factor)
        rule.update({key: scaled_duration(rule[key], factor) for key in _TIMES if key in rule})
    return scaled


def scaled_query(query: str, factor: int) -> str:
    """The query with its ranges, its offsets, and its thresholds in seconds divided by `factor`."""
    faster = _RANGE.sub(lambda found: scaled_duration(found[0], factor), query)
    return _THRESHOLD.sub(lambda found: f"{found[1]}{float(found[2]) / factor:g}", faster)


def scaled_duration(text: str, factor: int) -> str:
    """The duration, such as `1h30m`, divided by `factor`, in milliseconds. Raises ValueError for less than one."""
    if not re.fullmatch(_DURATION, text):
        raise ValueError(f"{text} is no duration of Prometheus")
    milliseconds = milliseconds_of(text) // factor
    if not milliseconds:
        raise ValueError(f"{text} is less than a millisecond after a division by {factor}")
    return f"{milliseconds}ms"


def milliseconds_of(text: str) -> int:
    """The length of a duration such as `1h30m`."""
    return sum(int(number) * _UNIT_MS[unit] for number, unit in _PART.findall(text))
