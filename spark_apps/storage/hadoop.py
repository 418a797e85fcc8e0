"""The Hadoop cluster that holds the warehouse: its configuration files and its Kerberos login.

From the environment: HADOOP_CONF_DIR (core-site.xml and hdfs-site.xml), KRB5PRINCIPAL and KRB5KEYTAB (Hadoop's own
names), KRB5_CONFIG (entrypoint.sh gives it to Java). The directory is not on the class path, because the class-data
archive fits only the very class path it was made with.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from paimon_contract import environment
from spark_apps.storage.hadoop_files import check_krb5, read_directory

BOUNDED = {
    "ipc.client.connect.timeout": "10000",
    "ipc.client.connect.max.retries": "5",
    "ipc.client.connect.max.retries.on.timeouts": "2",  # Hadoop's 45 are a quarter of an hour
    "ipc.client.rpc-timeout.ms": "45000",
    "dfs.client.failover.max.attempts": "8",
    "dfs.client.socket-timeout": "20000",
}
"""Bounds by which an unreachable server fails within about a minute. The cluster's own files override them."""

CATALOG_OPTIONS = {"security.kerberos.login.use-ticket-cache": "false"}
"""Without it, Paimon logs in again with every file system it opens; a replaced login is never renewed."""


def options() -> dict[str, str]:
    """Options of the cluster's configuration files, over the bounds for waiting. Raises RunError if one is refused."""
    directory = os.environ.get(environment.HADOOP_CONF_DIR)
    return {**BOUNDED, **(read_directory(Path(directory)) if directory else {})}


_logins: Final = list[tuple[str, str]]()
"""Principal and keytab of each login of this process. The last one is that of all its threads."""


def log_in(jvm: Any, configuration: Any) -> None:
    """Logs the process in from its keytab, when the catalog names one. Hadoop then renews the login by itself."""
    principal, keytab = os.environ.get(environment.KRB5PRINCIPAL), os.environ.get(environment.KRB5KEYTAB)
    if not principal or not keytab or _logins[-1:] == [(principal, keytab)]:
        return
    krb5 = os.environ.get(environment.KRB5_CONFIG)
    if krb5:
        check_krb5(Path(krb5))
    # Spark sets Hadoop's security from a configuration of its own when this is first asked for: later, that would undo
    # the login.
    jvm.org.apache.spark.deploy.SparkHadoopUtil.get()
    user = jvm.org.apache.hadoop.security.UserGroupInformation
    user.setConfiguration(configuration)
    user.loginUserFromKeytab(principal, keytab)
    _logins.append((principal, keytab))


def token_options(warehouse: str) -> dict[str, str]:
    """Spark's settings by which the driver gets delegation tokens for executors and renews them in time.

    An executor does not log in: it acts as the driver's user, or as the user of the tokens.
    """
    principal, keytab = os.environ.get(environment.KRB5PRINCIPAL), os.environ.get(environment.KRB5KEYTAB)
    if not principal or not keytab:
        return {}
    return {
        "spark.kerberos.principal": principal,
        "spark.kerberos.keytab": keytab,
        "spark.kerberos.access.hadoopFileSystems": warehouse,
    }
