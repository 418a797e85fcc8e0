"""Failures of a Jdbc metastore on PostgreSQL, known by their SQL states."""

from __future__ import annotations

from spark_apps.failures.patterns import FailurePattern, commit_lock_held, failure_pattern


def _sql_state(states: str, kind: str, reason: str, sentence: str, remedy: str, *, member: str) -> FailurePattern:
    """A pattern of SQL states, alternatives of a regular expression. A server's message may be in any language."""
    pattern, field = rf"PSQLException: \[({states})\]", f"spec.metastore.jdbc.{member}"
    return failure_pattern(pattern, kind, reason, sentence, remedy, of_storage=False, field=field)


JDBC_PATTERNS = (
    _sql_state(
        "28[0-9A-Z]{3}|08004",
        "Environment",
        "CredentialsRefused",
        "The metastore refuses the credentials",
        "correct username and password in the metastore's Secret",
        member="credentialsSecretRef",
    ),
    _sql_state(
        "3D000",
        "Environment",
        "MetastoreNotFound",
        "The metastore's database does not exist",
        "make it, or correct the uri in a new PaimonCatalog",
        member="uri",
    ),
    _sql_state(
        "42501",
        "Environment",
        "AccessDenied",
        "The metastore does not permit this to its user",
        "let the user make tables in the schema, or make Paimon's tables and grant SELECT, INSERT, UPDATE and DELETE",
        member="credentialsSecretRef",
    ),
    _sql_state(
        "42P01",
        "Environment",
        "MetastoreNotFound",
        "A table of the metastore is missing",
        "find out who dropped it, and restore it; the operator does not recreate the table by itself",
        member="uri",
    ),
    _sql_state(
        "42P07|23505",
        "Conflict",
        "CommitConflict",
        "Another client changed the metastore at the same time",
        "nothing: it is tried again",
        member="uri",
    ),
    _sql_state(
        "08[0-9A-Z]{3}|57P0[0-9]|53[0-9A-Z]{3}",
        "Infrastructure",
        "MetastoreUnreachable",
        "The metastore does not answer",
        "check the uri, the database server and the network",
        member="uri",
    ),
    commit_lock_held("see who holds it, and since when, in the metastore's table paimon_distributed_locks"),
)
