"""An environment or an operator to fix. The operator retries without an edit."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "SecretNotFound": Explanation(
        "The Secret with the credentials, or a key in it, is missing.",
        "Create the Secret. The operator retries without an edit.",
    ),
    "CredentialsRefused": Explanation(
        "The storage or the metastore rejects the credentials.",
        "Correct the Secret. The operator retries without an edit.",
    ),
    "CertificateNotTrusted": Explanation(
        "The storage's certificate is signed by no trusted authority, or it is valid for another host name.",
        "Name the authority's certificate in spec.storage.s3.caConfigMapRef, or correct the host name of the endpoint.",
    ),
    "AccessDenied": Explanation(
        "The storage or the metastore accepts the credentials but denies the request.",
        "Correct the permissions. The operator retries without an edit.",
    ),
    "BucketNotFound": Explanation(
        "The bucket does not exist.",
        "Create the bucket, or correct the catalog. The operator retries without an edit.",
    ),
    "InputNotFound": Explanation(
        "The input path of the write does not exist.",
        "Put the files there, or correct the path. The operator retries without an edit.",
    ),
    "InputSchemaMismatch": Explanation(
        "An input file has a column that the table lacks, or lacks a column that must not be null. No row was loaded.",
        "Correct the input file. The operator retries without an edit.",
    ),
    "InputMalformed": Explanation(
        "An input file cannot be read, or a value does not fit its column. No row was loaded.",
        "Correct the input file. The operator retries without an edit.",
    ),
    "ReferenceUnreadable": Explanation(
        "A file of the table that a snapshot, changelog, tag or branch needs is missing or cannot be read. So it is not"
        " known which files are orphans, and none was removed.",
        "Restore the file, or delete the snapshot, tag or branch that the message names. The operator retries without"
        " an edit.",
    ),
    "ConfigurationRefused": Explanation(
        "core-site.xml, hdfs-site.xml or krb5.conf of the catalog cannot be read, or does what such a file may not do: "
        "it includes other files, has a document type, refers to variables, or gives a key an impossible value.",
        "Correct the file in the ConfigMap. The message names the key. The operator retries without an edit.",
    ),
    "StorageUnreachable": Explanation(
        "The storage does not respond.",
        "Check the endpoint and the network. The operator retries without an edit.",
    ),
    "MetastoreUnreachable": Explanation(
        "The catalog's metastore does not respond.",
        "Check the uri, the server and the network. The operator retries without an edit.",
    ),
    "MetastoreNotFound": Explanation(
        "The database of the catalog's metastore, or one of Paimon's tables in it, does not exist.",
        "Create the database, or correct the uri in a new PaimonCatalog. The operator retries without an edit.",
    ),
    "CommitLockUnreliable": Explanation(
        "The metastore's lock table stores times without a time zone, so a writer in another zone can take a lock "
        "that is held.",
        "While no writer commits, run ALTER TABLE paimon_distributed_locks ALTER COLUMN acquired_at TYPE TIMESTAMP "
        "WITH TIME ZONE. The operator retries without an edit.",
    ),
    "InternalError": Explanation(
        "A bug in the operator stopped the reconcile of this object. The operator retries after a pause that grows to "
        "five minutes. Until a retry succeeds, nothing is started or changed for the object.",
        "Search the operator's log for the line that the message names, and report it with the traceback that follows.",
    ),
}
"""Reason -> what it means and what to do."""
