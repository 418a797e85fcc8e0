"""What went wrong, as the operator must know it: the class decides what happens next, the sentences are for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

from paimon_contract.exit_codes import EXIT_CODES, ErrorClass
from paimon_contract.result import ResultError
from spark_apps.failures.hive_patterns import HIVE_SIGNS
from spark_apps.failures.patterns import FailurePattern, failure_pattern

MAX_MESSAGE = 700
"""Characters of a message: the whole result must stay below 3 KB."""
MAX_REMEDY = 3000
"""Characters of what to do, which may name two files in full."""

_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""Six bytes each in JSON, or nothing that UTF-8 can hold; a broken file is full of them."""

_TELLS_NOTHING = re.compile(r"Identifier doesn't match expected value")
"""Of Java's Kerberos, below the cause that says what the KDC has answered."""


class FailingStorage(Protocol):
    """What a kind of storage knows about its own failures."""

    @property
    def signs(self) -> tuple[FailurePattern, ...]:
        """Patterns of its failures, tried before the common ones."""

    @property
    def where(self) -> str:
        """The place that a message names."""

    def field(self, reason: str, said: str) -> str | None:
        """The field of the catalog that the failure is about; None for another storage's failure."""


class RunError(Exception):
    """A run that cannot succeed now. `kind` is one of the classes of the contract (EXIT_CODES)."""

    def __init__(self, kind: str, reason: str, message: str, remedy: str = "", *, field: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
        self.field = field

    @property
    def exit_code(self) -> int:
        """The process's exit code for it."""
        return EXIT_CODES[self.kind]

    def as_result(self) -> ResultError:
        """The part of the result document that describes it."""
        message, remedy = _line(str(self), MAX_MESSAGE), _line(self.remedy, MAX_REMEDY)
        return ResultError(ErrorClass(self.kind), self.reason, message, remedy, self.field)


def spec_failure(reason: str, message: str, remedy: str, *, field: str | None = None) -> RunError:
    """The user must edit something; a retry would end the same."""
    return RunError("Spec", reason, message, remedy, field=field)


def input_failure(reason: str, message: str, remedy: str, *, field: str | None = None) -> RunError:
    """Returns the failure of input files: nothing was loaded, and mending the files is enough, without an edit."""
    return RunError("Environment", reason, message, remedy, field=field)


INPUT_MALFORMED = "InputMalformed"


def _of_metastore(states: str, kind: str, reason: str, sentence: str, remedy: str, *, member: str) -> FailurePattern:
    """`states` are SQL states: what a server says besides may be in any language."""
    pattern, field = rf"PSQLException: \[({states})\]", f"spec.metastore.jdbc.{member}"
    return failure_pattern(pattern, kind, reason, sentence, remedy, of_storage=False, field=field)


METASTORE_SIGNS = (
    _of_metastore(
        "28[0-9A-Z]{3}|08004",
        "Environment",
        "CredentialsRefused",
        "The metastore refuses the credentials",
        "correct username and password in the metastore's Secret",
        member="credentialsSecretRef",
    ),
    _of_metastore(
        "3D000",
        "Environment",
        "MetastoreNotFound",
        "The metastore's database does not exist",
        "make it, or correct the uri in a new PaimonCatalog",
        member="uri",
    ),
    _of_metastore(
        "42501",
        "Environment",
        "AccessDenied",
        "The metastore does not permit this to its user",
        "let the user make tables in the schema, or make Paimon's tables and grant SELECT, INSERT, UPDATE and DELETE",
        member="credentialsSecretRef",
    ),
    _of_metastore(
        "42P01",
        "Environment",
        "MetastoreNotFound",
        "A table of the metastore is missing",
        "find out who dropped it; the next run makes it anew, empty",
        member="uri",
    ),
    _of_metastore(
        "42P07|23505",
        "Conflict",
        "CommitConflict",
        "Somebody else changed the metastore at the same time",
        "nothing: it is tried again",
        member="uri",
    ),
    _of_metastore(
        "08[0-9A-Z]{3}|57P0[0-9]|53[0-9A-Z]{3}",
        "Infrastructure",
        "MetastoreUnreachable",
        "The metastore does not answer",
        "check the uri, the database server and the network",
        member="uri",
    ),
    failure_pattern(
        "Acquire lock failed",
        "Infrastructure",
        "CommitLockHeld",
        "The commit lock of the table was not free in time",
        "see who holds it, since when: paimon_distributed_locks of a Jdbc metastore, SHOW LOCKS of a Hive one",
        of_storage=False,
        field="spec.metastore",
    ),
    *HIVE_SIGNS,
)


def _answered(code: int, words: str) -> str:
    """An answer over HTTP, as clients tell it. The number alone may be a task's, a snapshot's or a row's."""
    return rf"(status( code)?|response code|error code|HTTP(/1\.1)?):? {code}\b|\b{code} ({words})"


SIGNS = (
    failure_pattern(
        r"commit conflicts between multiple jobs|File deletion conflicts|LSM conflicts|Give up committing|"
        r"ConcurrentModification|already been created by another|TableAlreadyExistException",
        "Conflict",
        "CommitConflict",
        "Somebody else committed to the table at the same time",
        "stop the other writer if this goes on",
    ),
    failure_pattern(
        r"FetchFailedException|ExecutorLostFailure",
        "Infrastructure",
        "NoExecutors",
        "Executors were lost, or did not reach each other",
        "raise spark.executor.memory if they ran out of it; see the network between Spark pods",
        of_storage=False,
    ),
    failure_pattern(
        r"PKIX path|unable to find valid certification path|SSLPeerUnverifiedException|SSLHandshakeException|"
        r"No subject alternative|CertificateException",
        "Environment",
        "CertificateNotTrusted",
        "The storage's certificate is not trusted",
        "put the certificate of its authority into a ConfigMap as ca.crt and name that in caConfigMapRef",
    ),
    failure_pattern(
        r"NoAuthWithAWSException|Unable to load (AWS )?credentials|Access key must be specified|No AWS Credentials|"
        r"(No AWS|Profile file contained no|AWS) (profile named|credentials for profile)|profile file",
        "Environment",
        "SecretNotFound",
        "No credentials for the storage were given",
        "set them in the catalog's Secret; without one, give the service account of the Spark pods an identity",
    ),
    failure_pattern(
        r"AccessDenied(?!Exception)|Access Denied",
        "Environment",
        "AccessDenied",
        "The storage does not permit this to these credentials",
        "grant what is missing to the owner of the keys in the catalog's Secret",
    ),
    failure_pattern(
        r"SignatureDoesNotMatch|InvalidAccessKeyId|InvalidSecurity|InvalidClientTokenId|ExpiredToken|InvalidToken|"
        r"AccessDeniedException|No user exists with the provided access key|" + _answered(403, "Forbidden"),
        "Environment",
        "CredentialsRefused",
        "The storage refuses the credentials",
        "correct the keys in the catalog's Secret, or what they may do",
    ),
    failure_pattern(
        r"Bad Request \(Service: (Amazon )?S3[;,] Status Code: 400",  # the answer to a HEAD has no room for a word more
        "Environment",
        "CredentialsRefused",
        "The storage refuses the request without saying why",
        "look for a session token that has expired, then for a wrong region",
    ),
    failure_pattern(
        r"NoSuchBucket|bucket does not exist|Bucket .{0,80}does not exist|UnknownStoreException",
        "Environment",
        "BucketNotFound",
        "The bucket does not exist",
        "create the bucket, or correct the catalog's warehouse or location",
    ),
    failure_pattern(
        r"UnknownHostException|Connection refused|connect timed out|ConnectException|NoRouteToHost|"
        r"Unable to execute HTTP request|SocketTimeoutException|"
        r"Connection reset|NoHttpResponse|SdkClientException|"
        + _answered(500, "Internal")
        + "|"
        + _answered(503, "Service|Slow"),
        "Infrastructure",
        "StorageUnreachable",
        "The storage does not answer",
        "check the catalog's endpoint and the network",
    ),
    failure_pattern(
        r"which the column may not be|Malformed records are detected|MALFORMED_RECORD|CAST_INVALID_INPUT|CAST_OVERFLOW|"
        r"NUMERIC_VALUE_OUT_OF_RANGE|CSV header does not conform|UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE|"
        r"CANNOT_READ_FILE_FOOTER|CANNOT_MERGE_SCHEMAS|FAILED_READ_FILE|is not a Parquet file|Malformed ORC file",
        "Environment",
        INPUT_MALFORMED,
        "The input does not fit the table",
        "correct the files",
    ),
    failure_pattern(
        r"Permission denied|AccessControlException|Read-only file system",
        "Environment",
        "AccessDenied",
        "The storage does not permit this",
        "give the driver's user the right to read and write there",
        of_storage=False,
    ),
    failure_pattern(
        r"No space left on device|Disk quota exceeded",
        "Infrastructure",
        "DiskFull",
        "A disk is full",
        "give the driver's /tmp more room",
    ),
)


def classify(error: BaseException, storage: FailingStorage | None = None) -> RunError:
    """The failure behind any exception. What nobody foresaw counts as Infrastructure: it is retried, within limits."""
    if isinstance(error, RunError):
        return error
    chain = list(_causes(error))
    text = "\n".join(chain)
    # The metastore's first: what it says has SQL states, and some of the same words.
    for each in (*METASTORE_SIGNS, *(storage.signs if storage else ()), *SIGNS):
        if each.pattern.search(text):
            field = each.field or (storage.field(each.reason, text) if storage and each.of_storage else None)
            where = f" ({storage.where})" if storage and each.of_storage and field else ""
            said = f"{each.sentence}{where}: {_detail(chain)}"
            return RunError(each.kind, each.reason, said, each.remedy, field=field)
    return RunError("Infrastructure", "DriverFailed", _first_line(chain[-1]), "read the run's log")


def caused_by(error: BaseException, *class_names: str) -> bool:
    """Whether a Java exception whose class ends with one of `class_names` is in the chain of causes."""
    return any(line.split(":", 1)[0].endswith(class_names) for line in _causes(error))


def root_message(error: BaseException) -> str:
    """What the innermost cause says, without its class, on one line."""
    return _first_line(list(_causes(error))[-1]).partition(": ")[2] or str(error).split("\n", 1)[0]


def _causes(error: BaseException) -> Iterator[str]:
    """`class: message` of the exception and of each cause, outermost first, across Python and Java."""
    java = _java_exception(error)
    if java is None:
        yield f"{type(error).__name__}: {error}"
        return
    for _ in range(20):  # a cause may lead back to itself
        name = java.getClass().getName()
        state = f"[{java.getSQLState()}] " if name.endswith("PSQLException") else ""
        yield f"{name}: {state}{java.getMessage()}"
        java = java.getCause()
        if java is None:
            return


def _detail(chain: list[str]) -> str:
    """Where it happened, if a URI is named, and what the innermost cause says, without classes and request numbers."""
    uris = [uri for line in chain for uri in re.findall(r"\b(?:s3a?|file|hdfs)://[^\s`'\",;]+", line)]
    telling = [line for line in chain if not _TELLS_NOTHING.search(line)]
    innermost = _first_line((telling or chain)[-1])
    said = re.sub(r"^(?:[\w.$]+(?:Exception|Error):\s*)+", "", innermost)
    said = re.sub(r"\s*\(Service: .*", "", said)
    said = said.removeprefix(f"{uris[0]}: ") if uris else said
    return f"{uris[0].rstrip(':')}: {said}" if uris and uris[0] not in said else said


def _java_exception(error: BaseException) -> Any:
    """py4j and pyspark each hide the Java exception in another attribute."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def _line(text: str, limit: int) -> str:
    line = _NO_TEXT.sub(" ", text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):  # Spark's parser puts only its class into the first
        lines[0] += f" {lines[1]}"
    return lines[0][:MAX_MESSAGE] if lines else text
