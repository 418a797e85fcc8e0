"""A certificate authority of one cluster, made by openssl. Certificates are valid for 30 days."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.progress import run

_DAYS = "30"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Identity:
    """A certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates in one directory. An existing certificate is reused."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.certificate = directory / "ca.crt"
        self._key = directory / "ca.key"
        if not self.certificate.exists():
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._create()

    def issue(self, name: str, *, user: str, groups: tuple[str, ...] = (), hosts: tuple[str, ...] = ()) -> Identity:
        """Returns the certificate `name` of `user` in `groups`; `hosts` in openssl's form: `DNS:x`, `IP:1.2.3.4`."""
        identity = Identity(self.directory / f"{name}.crt", self.directory / f"{name}.key")
        if not identity.certificate.exists():
            self._sign(identity, _subject(user, groups), hosts or ("DNS:client",))
        return identity

    def service_account_key(self) -> Path:
        """Returns the key that signs service account tokens; the API server derives the public part from it."""
        key = self.directory / "service-account.key"
        if not key.exists():
            run(["openssl", "genrsa", "-out", str(key), "2048"])
        return key

    def _create(self) -> None:
        fresh = self.certificate.with_suffix(".new")
        subject = "/CN=paimon-operator-test-authority"
        out = ["-keyout", str(self._key), "-out", str(fresh)]
        run(["openssl", "req", "-x509", *_NEW_KEY, *out, "-days", _DAYS, "-subj", subject])
        fresh.rename(self.certificate)

    def _sign(self, identity: Identity, subject: str, hosts: tuple[str, ...]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            request, extensions, signed = (str(Path(scratch, name)) for name in ("csr", "ext", "crt"))
            Path(extensions).write_text(
                f"subjectAltName={','.join(hosts)}\nextendedKeyUsage=serverAuth,clientAuth\n"
                "authorityKeyIdentifier=keyid\nkeyUsage=critical,digitalSignature\n"
            )
            run(["openssl", "req", *_NEW_KEY, "-keyout", str(identity.key), "-out", request, "-subj", subject])
            signer = ["-CA", str(self.certificate), "-CAkey", str(self._key), "-set_serial", str(_serial())]
            form = ["-days", _DAYS, "-extfile", extensions, "-out", signed]
            run(["openssl", "x509", "-req", "-in", request, *signer, *form])
            identity.certificate.write_bytes(Path(signed).read_bytes())


def _subject(user: str, groups: tuple[str, ...]) -> str:
    parts = [f"/O={_escape(group)}" for group in groups] + [f"/CN={_escape(user)}"]
    return "".join(parts)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("/", "\\/")


def _serial() -> int:
    return int.from_bytes(os.urandom(8), "big") | 1
