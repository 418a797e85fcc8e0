"""S3 options that a catalog may set besides its typed fields: concurrency, encryption, proxies, timeouts."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import OptionValue, rule, with_rules

PREFIXES: Final = ("s3.", "fs.s3a.")
"""Prefix of the options of Paimon's S3 client, and of the client that reads input files."""

ALLOWED: Final = (
    "acl.default", "attempts.maximum", "block.size", "connection.acquisition.timeout", "connection.establish.timeout",
    "connection.idle.time", "connection.maximum", "connection.request.timeout", "connection.timeout", "connection.ttl",
    "encryption.algorithm", "encryption.key", "endpoint.fips", "fast.upload.active.blocks", "fast.upload.buffer",
    "list.version", "multipart.purge", "multipart.size", "multipart.threshold", "paging.maximum", "proxy.domain",
    "proxy.host", "proxy.port", "proxy.workstation", "readahead.range", "requester.pays.enabled", "retry.interval",
    "retry.limit", "retry.throttle.interval", "retry.throttle.limit", "server-side-encryption-algorithm",
    "server-side-encryption.key", "socket.recv.buffer", "socket.send.buffer", "threads.keepalivetime", "threads.max",
    "user.agent.prefix",
)  # fmt: skip
"""Names without their prefix, from Hadoop's S3A (org.apache.hadoop.fs.s3a.Constants), which Paimon's s3.* keys become.

None holds a secret, or names code, a local path, another bucket or another server except a proxy.
"""
CUSTOMER_KEY: Final = "SSE-C"
"""Encryption whose key would have to be in the catalog, so it is rejected."""

_PERMITTED_KEYS: Final = f"^({'|'.join(PREFIXES)})({'|'.join(ALLOWED)})$".replace(".", "[.]")
_CREDENTIALS: Final = r"(key|token|secret|password|credential)"
_UNKNOWN: Final = f"!k.matches('{_PERMITTED_KEYS}')"
_SECRET: Final = f"({_UNKNOWN} && k.matches('{_CREDENTIALS}'))"

_RULES: Final = [
    rule(
        f"self.all(k, !{_SECRET})",
        "credentials belong in the Secret that credentialsSecretRef or credentialsFileSecretRef names",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_SECRET})[0] + ' must not be set: credentials belong in the"
        " Secret that credentialsSecretRef or credentialsFileSecretRef names'",
    ),
    rule(
        f"self.all(k, !({_UNKNOWN}) || {_SECRET})",
        "only the S3 options that docs/storage.md lists may be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_UNKNOWN} && !{_SECRET})[0] + ' is not one that may be set:"
        " docs/storage.md lists them; keys begin with s3. (the table) or fs.s3a. (input files)'",
    ),
    rule(
        f"self.all(k, self[k] != '{CUSTOMER_KEY}')",
        f"{CUSTOMER_KEY} would put the encryption key into the catalog: use SSE-S3 or SSE-KMS",
    ),
]


def is_permitted(key: str) -> bool:
    """Whether a catalog may set this option. The CRD's rule as a Python predicate."""
    return re.fullmatch(_PERMITTED_KEYS, key) is not None


def is_credential(key: str) -> bool:
    """Whether the key of an option that must not be set looks like a credential's."""
    return not is_permitted(key) and re.search(_CREDENTIALS, key) is not None


S3Options = Annotated[
    dict[str, OptionValue],
    Field(max_length=40, json_schema_extra=with_rules(*_RULES)),
]
"""Option -> value as text."""
