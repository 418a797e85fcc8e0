"""Fields of a catalog's `storage` that belong together or exclude each other, and options that may not be set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from paimon_operator.api.catalog import hdfs, s3_options
from paimon_operator.api.catalog.storage import S3, SCHEMES, Storage
from paimon_operator.errors import SpecError

_S3: Final = "spec.storage.s3"
_HDFS: Final = "spec.storage.hdfs"
_REMOVE: Final = "Remove it; docs/storage.md lists the permitted options."


def storage_problems(storage: Storage) -> Iterator[SpecError]:
    """What is wrong with the block itself, whatever the warehouse."""
    given = [member for member in SCHEMES if getattr(storage, member) is not None]
    if len(given) != 1:
        yield SpecError(
            "spec.storage",
            f"{len(given)} kinds of storage are set ({', '.join(given) or 'none'})",
            f"Set exactly one of {', '.join(SCHEMES)}.",
        )
    if storage.s3 is not None:
        yield from _s3_problems(storage.s3)
        yield from _s3_option_problems(storage.s3.options or {})
    if storage.hdfs is not None:
        yield from _hdfs_problems(storage.hdfs)


def _s3_problems(s3: S3) -> Iterator[SpecError]:
    if s3.credentials_secret_ref is not None and s3.credentials_file_secret_ref is not None:
        yield SpecError(
            f"{_S3}.credentialsFileSecretRef",
            "credentialsSecretRef is set too, and the driver can use one of them only",
            "Remove one of the two.",
        )
    if s3.ca_config_map_ref is not None and (s3.endpoint or "https://").startswith("http://"):
        yield SpecError(
            f"{_S3}.caConfigMapRef", "an endpoint of http:// shows no certificate", "Remove it, or use https://."
        )


def _s3_option_problems(options: Mapping[str, str]) -> Iterator[SpecError]:
    for key, value in options.items():
        path = f"{_S3}.options[{key}]"
        if s3_options.is_credential(key):
            yield SpecError(
                path,
                "an option must not hold credentials",
                "Put them into the Secret that credentialsSecretRef or credentialsFileSecretRef names.",
            )
        elif not s3_options.is_permitted(key):
            yield SpecError(path, f"{key} may not be set", _REMOVE)
        elif value == s3_options.CUSTOMER_KEY:
            yield SpecError(path, f"{value} would put the encryption key into the catalog", "Use SSE-S3 or SSE-KMS.")


def _hdfs_problems(block: hdfs.Hdfs) -> Iterator[SpecError]:
    if block.kerberos is not None and block.user is not None:
        yield SpecError(f"{_HDFS}.user", "with kerberos the principal is the user", "Remove user.")
    if block.kerberos is not None and block.config_map_ref is None:
        yield SpecError(
            f"{_HDFS}.configMapRef",
            "kerberos needs the ConfigMap whose hdfs-site.xml names the NameNode's principal",
            "Set configMapRef.",
        )
    for key in block.options or {}:
        if not hdfs.is_permitted(key):
            yield SpecError(f"{_HDFS}.options[{key}]", f"{key} may not be set", _REMOVE)
