"""S3: options by the engine's names for them, credentials in the environment, in a file, or by the account's identity.

Only what the catalog says is written here; what must always be set (bounded retries) the Spark side adds from its own
engine data, and so it does with the provider that takes credentials from the environment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import urlsplit

from paimon_contract import environment
from paimon_engines.engine import Engine, S3Keys
from paimon_operator.api.catalog.s3_options import PREFIXES
from paimon_operator.api.catalog.storage import S3
from paimon_operator.core.storage.access import ROOT, Access, Mount, SecretKey, ValueSource, Variable
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import Protection, unprotected

_REQUIRED_KEYS: Final = (environment.AWS_ACCESS_KEY_ID, environment.AWS_SECRET_ACCESS_KEY)
_OPTIONAL_KEYS: Final = (environment.AWS_SESSION_TOKEN,)
_FILE_VARIABLES: Final = (environment.AWS_SHARED_CREDENTIALS_FILE, environment.AWS_CREDENTIAL_PROFILES_FILE)
"""One name for version 2 of AWS's SDK, another for version 1."""
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_AWS: Final = re.compile(r"\.amazonaws\.com$")
_SERVICE: Final = re.compile(r"([^.]+)\.([^.]+)\.svc(?:\..+)?")
CREDENTIALS_FILE: Final = "credentials"
"""Key of the Secret, and name of the file."""
CA_FILE: Final = "ca.crt"


@dataclass(frozen=True)
class S3Storage(StorageKind):
    """A bucket of S3."""

    spec: S3
    commit_protection: ClassVar[Protection] = unprotected(
        "on S3 a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost"
    )

    @property
    def uses_pod_identity(self) -> bool:
        """Without any Secret, the cloud authenticates Pods by their service account."""
        return self.spec.credentials_secret_ref is None and self.spec.credentials_file_secret_ref is None

    @property
    def can_be_observed(self) -> bool:
        """Python reads it."""
        return True

    def physical_root(self, warehouse: str, namespace: str) -> str:
        """Names of buckets are unique on AWS. On another server, they are unique there only."""
        server = server_of(self.spec.endpoint, namespace)
        return warehouse if server is None else f"{server}:{warehouse}"

    def access(self, engine: Engine) -> Access:
        """Options of Paimon's own S3 client and of Hadoop's; both take their credentials from the same source."""
        s3 = self.spec
        catalog_prefix, input_prefix = PREFIXES
        access = Access(
            catalog_options=_options(s3, engine.s3, catalog_prefix),
            hadoop_options=_options(s3, engine.input, input_prefix),
        )
        if s3.ca_config_map_ref is not None:
            access += _authorities(s3.ca_config_map_ref.name)
        if s3.credentials_secret_ref is not None:
            return access + Access(variables=_environment(s3.credentials_secret_ref.name))
        if s3.credentials_file_secret_ref is not None:
            return access + _from_file(s3.credentials_file_secret_ref.name, engine)
        return access + _providers(engine.s3.providers["workload"], engine.input.providers["workload"], engine)


def server_of(endpoint: str | None, namespace: str) -> str | None:
    """Host and port of an endpoint in normal form; None for AWS.

    The names of a Service of the cluster are one name: `minio` in the namespace shop, `minio.shop`, `minio.shop.svc`.
    """
    if endpoint is None:
        return None
    parts = urlsplit(endpoint.lower())
    host, _, port = parts.netloc.partition(":")
    host = host.rstrip(".")
    if _AWS.search(host):
        return None
    service = _SERVICE.fullmatch(host)
    if service is not None:
        host = f"{service[1]}.{service[2]}"
    elif "." not in host:
        host = f"{host}.{namespace}"
    return f"{host}:{port or _DEFAULT_PORTS[parts.scheme]}"


def _environment(secret: str) -> tuple[Variable, ...]:
    return tuple(
        Variable(name=key, secret_key=SecretKey(secret=secret, key=key, optional=key in _OPTIONAL_KEYS))
        for key in (*_REQUIRED_KEYS, *_OPTIONAL_KEYS)
    )


def _from_file(secret: str, engine: Engine) -> Access:
    path = f"{ROOT}/credentials"
    mount = Mount(
        volume="credentials",
        source=ValueSource.SECRET,
        name=secret,
        path=path,
        items={CREDENTIALS_FILE: CREDENTIALS_FILE},
    )
    file = tuple(Variable(name=name, value=f"{path}/{CREDENTIALS_FILE}") for name in _FILE_VARIABLES)
    providers = _providers(engine.s3.providers["file"], engine.input.providers["file"], engine)
    return providers + Access(variables=file, mounts=(mount,))


def _providers(of_catalog: str, of_input: str, engine: Engine) -> Access:
    return Access(
        catalog_options={engine.s3.provider_key: of_catalog},
        hadoop_options={engine.input.provider_key: of_input},
    )


def _authorities(config_map: str) -> Access:
    """The entrypoint makes Java trust them: it has no variable of its own for that."""
    path = f"{ROOT}/ca"
    mount = Mount(volume="ca", source=ValueSource.CONFIG_MAP, name=config_map, path=path, items={CA_FILE: CA_FILE})
    return Access(variables=(Variable(name=environment.STORAGE_CA_FILE, value=f"{path}/{CA_FILE}"),), mounts=(mount,))


def _options(s3: S3, keys: S3Keys, prefix: str) -> dict[str, str]:
    given = {key: value for key, value in (s3.options or {}).items() if key.startswith(prefix)}
    options = given | {keys.region_key: s3.region}
    if s3.endpoint is not None:
        options[keys.endpoint_key] = s3.endpoint
    if s3.path_style_access is not None:
        options[keys.path_style_key] = str(s3.path_style_access).lower()
    return options
