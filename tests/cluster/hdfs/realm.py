"""A Kerberos realm of one HDFS: MIT's KDC with a throw-away database, and keytabs for its principals."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.packages import SYSTEM_PATH, install
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.progress import run

PACKAGES = {"krb5kdc": "krb5-kdc", "kadmin.local": "krb5-admin-server"}

NAME = "LAKE.TEST"
SERVER, WEB = "hdfs/namenode", "HTTP/namenode"
USER, STRANGER, HURRIED = "paimon", "stranger", "hurried"
"""The owner of the warehouse, a user without rights in it, and a user whose tickets are valid for ten seconds."""

_KRB5 = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = {address}:{port}
 }}
"""
_KDC = """\
[kdcdefaults]
 kdc_listen = {address}:{port}
 kdc_tcp_listen = {address}:{port}
[realms]
 {realm} = {{
  database_name = {home}/principal
  key_stash_file = {home}/stash
  acl_file = {home}/acl
  max_life = 10h
 }}
[logging]
 kdc = STDERR
"""


@dataclass(frozen=True)
class Realm:
    """A realm whose KDC listens on one address."""

    home: Path
    address: str
    port: int
    around: Callable[[Sequence[str]], list[str]]
    daemon: Daemon

    @property
    def krb5_conf(self) -> Path:
        return self.home / "krb5.conf"

    def keytab(self, principal: str) -> Path:
        """Returns the keytab of a principal."""
        return self.home / f"{principal.partition('/')[0].lower()}.keytab"

    @property
    def environment(self) -> dict[str, str]:
        """Returns the environment variables of MIT's programs."""
        own = {"KRB5_CONFIG": str(self.krb5_conf), "KRB5_KDC_PROFILE": str(self.home / "kdc.conf")}
        return {**os.environ, "PATH": SYSTEM_PATH, **own}

    def create(self) -> None:
        """Creates the database, the principals and their keytabs."""
        install(PACKAGES)
        self.home.mkdir(parents=True)
        places = {"realm": NAME, "address": self.address, "port": self.port, "home": self.home}
        self.krb5_conf.write_text(_KRB5.format(**places))
        (self.home / "kdc.conf").write_text(_KDC.format(**places))
        run(["kdb5_util", "create", "-s", "-r", NAME, "-P", "throw-away"], env=self.environment)
        self.administer(*(f"addprinc -randkey {each}" for each in (SERVER, WEB, USER, STRANGER, HURRIED)))
        self.administer(f'modprinc -maxlife "10 seconds" {HURRIED}')
        self.administer(*(f"ktadd -k {self.keytab(each)} {each}" for each in (SERVER, WEB, USER, STRANGER, HURRIED)))

    def administer(self, *orders: str) -> None:
        """Runs commands of kadmin."""
        run(["kadmin.local"], stdin="\n".join(orders).encode(), env=self.environment)

    def start(self) -> None:
        """Starts the KDC and waits until it listens."""
        self.daemon.start(self.around(["krb5kdc", "-n"]), env=self.environment)
        if not wait_until(self._listens, timeout=20):
            raise TimeoutError(f"the KDC does not listen. Its log ends:\n{self.daemon.log_tail()}")

    def stop(self) -> None:
        self.daemon.stop()

    def _listens(self) -> bool:
        self.daemon.check_alive()
        return "commencing operation" in self.daemon.log_tail()
