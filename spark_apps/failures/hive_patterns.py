"""Failures of a Hive metastore. Its client hides most causes, so the patterns match the client's own messages."""

from __future__ import annotations

from spark_apps.failures.patterns import commit_lock_held, failure_pattern

_URI = "spec.metastore.hive.uri"

HIVE_PATTERNS = (
    commit_lock_held("see who holds it, and since when, with SHOW LOCKS"),
    failure_pattern(
        r"Failed to create the desired metastore client|Could not connect to meta store|"
        r"TTransportException|TApplicationException",
        "Infrastructure",
        "MetastoreUnreachable",
        "The Hive metastore does not answer, or cannot",
        "check the uri, the server and the network; a server that wants Kerberos or TLS does not answer either",
        of_storage=False,
        field=_URI,
    ),
    failure_pattern(
        r"AlreadyExistsException: Table ",
        "Environment",
        "Conflict",
        "The metastore lists something else under the table's name",
        "use another table name, or remove what is there",
        of_storage=False,
        field="spec.table",
    ),
    failure_pattern(
        r"api\.MetaException: .{0,300}(Unable to create|Permission denied|AccessControlException|AccessDenied)",
        "Environment",
        "AccessDenied",
        "The metastore's server cannot make a directory in its own warehouse",
        "see the server's metastore.warehouse.dir, its rights, and its log",
        of_storage=False,
        field=_URI,
    ),
    failure_pattern(
        r"api\.MetaException: ",
        "Infrastructure",
        "MetastoreUnreachable",
        "The Hive metastore cannot do it",
        "see the server's log: it is an error of its own, of its database or of its own warehouse",
        of_storage=False,
        field=_URI,
    ),
)
