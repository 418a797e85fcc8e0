"""Failures that any job can have, whatever its metastore and its storage. The first match wins."""

from __future__ import annotations

from spark_apps.failures.errors import INPUT_MALFORMED
from spark_apps.failures.patterns import failure_pattern
from spark_apps.failures.s3_patterns import S3_PATTERNS

_OF_THE_TABLE = r"/(?:bucket-(?:\d+|postpone)/(?:data|changelog)-|manifest/(?:index-)?manifest-|index/index-)[^'\s]*"
"""The end of the path of a file that Paimon has named in a table's directory. No input has such a path."""
COMMON_PATTERNS = (
    failure_pattern(
        r"commit conflicts between multiple jobs|File deletion conflicts|LSM conflicts|Give up committing|"
        r"ConcurrentModification|already been created by another|TableAlreadyExistException",
        "Conflict",
        "CommitConflict",
        "Another writer committed to the table at the same time",
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
    *S3_PATTERNS,
    failure_pattern(
        rf"{_OF_THE_TABLE}' not found|{_OF_THE_TABLE} is not a Parquet file|Malformed ORC file \S*{_OF_THE_TABLE}",
        "Infrastructure",
        "TableFileUnreadable",
        "A file of the table is missing or damaged",
        "stop what deletes files there, and put the file back; see docs/howto-recover.md",
        of_storage=False,
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
        "raise spark.driver.scratch, or spark.executor.scratch in mode Cluster",
    ),
)
