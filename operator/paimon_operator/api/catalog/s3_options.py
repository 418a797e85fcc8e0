"""Options of S3 that a catalog may set beside its typed fields: what runs at once, encryption, proxies, time-outs."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import OptionValue, rule

PREFIXES: Final = ("s3.", "fs.s3a.")
"""Paimon's own way to S3, and the way that input files are read."""

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

None of them holds a secret, names code or a local path, or leads to another bucket or server but a proxy.
"""
CUSTOMER_KEY: Final = "SSE-C"
"""With it the encryption key itself would stand in the catalog."""

_KEYS: Final = f"^({'|'.join(PREFIXES)})({'|'.join(ALLOWED)})$".replace(".", "[.]")
_CREDENTIALS: Final = r"(key|token|secret|password|credential)"
_UNKNOWN: Final = f"!k.matches('{_KEYS}')"
_SECRET: Final = f"({_UNKNOWN} && k.matches('{_CREDENTIALS}'))"

_RULES: Final = [
    rule(
        f"self.all(k, !{_SECRET})",
        "credentials belong into the Secret that credentialsSecretRef or credentialsFileSecretRef names",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_SECRET})[0] + ' must not be set: credentials belong into the"
        " Secret that credentialsSecretRef or credentialsFileSecretRef names'",
    ),
    rule(
        f"self.all(k, !({_UNKNOWN}) || {_SECRET})",
        "only the options of S3 that the page of storage lists may be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_UNKNOWN} && !{_SECRET})[0] + ' is not one that may be set:"
        " the page of storage lists them; keys begin with s3. (the table) or fs.s3a. (input files)'",
    ),
    rule(
        f"self.all(k, self[k] != '{CUSTOMER_KEY}')",
        f"{CUSTOMER_KEY} would put the encryption key into the catalog: use SSE-S3 or SSE-KMS",
    ),
]

S3Options = Annotated[
    dict[str, OptionValue],
    Field(max_length=40, json_schema_extra={"x-kubernetes-validations": _RULES}),
]
"""Option -> value as text."""
