"""Spark settings that a catalog may set: performance and timeouts, not locations, code, rights or SQL semantics."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field

from paimon_contract.spark_conf import ALLOWED_CONF, CONF_VALUE
from paimon_operator.api.base import cel_list, rule, with_rules

CREDENTIAL: Final = re.compile(r"(?i)(access|secret|account)[.-]?key|password|secret|token|credential")
"""Keys that look like credentials. Their values would be readable in a ConfigMap."""
_LISTED: Final = cel_list(ALLOWED_CONF)
_CREDENTIAL: Final = f"k.matches('{CREDENTIAL.pattern}')"

SparkConf = Annotated[
    dict[str, Annotated[str, Field(pattern=f"^{CONF_VALUE.pattern}$", max_length=64)]],
    Field(
        max_length=40,
        json_schema_extra=with_rules(
            rule(
                f"self.all(k, !{_CREDENTIAL})",
                "sparkConf must hold no credentials, which a ConfigMap would expose: name a Secret in spec.storage",
                reason="FieldValueForbidden",
            ),
            rule(
                f"self.all(k, {_CREDENTIAL} || k in {_LISTED})",
                "a Spark setting that is not permitted here; docs/spark.md lists the permitted ones",
                reason="FieldValueForbidden",
                message_expression=f"'setting ' + self.filter(k, !(k in {_LISTED}))[0]"
                " + ' may not be set here; docs/spark.md lists the permitted ones'",
            ),
            rule("self.all(k, k.size() <= 128)", "the key of a setting must have at most 128 characters"),
        ),
    ),
]
"""Spark's key -> value as text."""
