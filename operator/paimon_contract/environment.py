"""Names of the environment variables of driver and executor Pods.

A test shows that the operator, `entrypoint.sh` and `spark_apps` use no other name.
"""

from __future__ import annotations

from typing import Final

# Set by the operator.
RUN_NAME: Final = "RUN_NAME"
RUN_NAMESPACE: Final = "RUN_NAMESPACE"
"""Like RUN_NAME and RUN_ATTEMPT for the log, where no job is read yet, and for the threads of Java."""
RUN_UID: Final = "RUN_UID"
RUN_ATTEMPT: Final = "RUN_ATTEMPT"
"""Number of the attempt, from 1."""
JOB_DIGEST: Final = "JOB_DIGEST"
"""Digest of the mounted files of the job (`job.files_digest`). Absent: an operator of release 0.1."""
DRIVER_CORES: Final = "DRIVER_CORES"
DRIVER_HEAP: Final = "DRIVER_HEAP"
"""Java's notation: `1434m`."""
DRIVER_JIT: Final = "DRIVER_JIT"
"""`tiered` for long, computing runs; absent otherwise."""
TRY_WITHOUT_JVM: Final = "TRY_WITHOUT_JVM"
"""Set for an operation that may end without a JVM: entrypoint.sh tries that first."""
DRIVER_DEADLINE_S: Final = "DRIVER_DEADLINE_S"
"""The container kills its driver after so many seconds."""
POD_IP: Final = "POD_IP"
"""Where executors reach the driver."""
POD_NAME: Final = "POD_NAME"
EXECUTOR_IMAGE: Final = "EXECUTOR_IMAGE"
EXECUTOR_PULL_POLICY: Final = "EXECUTOR_PULL_POLICY"
EXECUTOR_TEMPLATE: Final = "EXECUTOR_TEMPLATE"
"""File with the Pod that executors are made from."""
API_ACCESS: Final = "API_ACCESS"
"""Directory with a token for the API server, and the API server's certificate authority."""
SHARED_SECRETS: Final = "SHARED_SECRETS"
"""Names of variables and paths of directories with secrets that driver and executors both have."""
STORAGE_CA_FILE: Final = "STORAGE_CA_FILE"
"""Certificates that Java trusts besides its own."""
METASTORE_CREDENTIALS: Final = "METASTORE_CREDENTIALS"
"""Directory with the metastore's username and password."""
METASTORE_USERNAME: Final = "METASTORE_USERNAME"
"""Not read. The kubelet names a missing Secret only for a variable, so this one is required."""
OBSERVER_CONFIG: Final = "OBSERVER_CONFIG"
"""An observer's configuration as JSON (`looks.ObserverConfig`)."""
BATCH_CONFIG: Final = "BATCH_CONFIG"
"""The configuration of a driver of several runs as JSON (`turns.BatchConfig`)."""
BATCH_JOB: Final = "BATCH_JOB"
"""A number from 0 follows: the jobs of such a driver."""

# Set by the operator, read by Hadoop, Java or the SDKs of AWS.
HADOOP_CONF_DIR: Final = "HADOOP_CONF_DIR"
HADOOP_USER_NAME: Final = "HADOOP_USER_NAME"
KRB5_CONFIG: Final = "KRB5_CONFIG"
KRB5PRINCIPAL: Final = "KRB5PRINCIPAL"
KRB5KEYTAB: Final = "KRB5KEYTAB"
AWS_ACCESS_KEY_ID: Final = "AWS_ACCESS_KEY_ID"
AWS_SECRET_ACCESS_KEY: Final = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 - the variable's name
AWS_SESSION_TOKEN: Final = "AWS_SESSION_TOKEN"  # noqa: S105 - the variable's name
AWS_SHARED_CREDENTIALS_FILE: Final = "AWS_SHARED_CREDENTIALS_FILE"
AWS_CREDENTIAL_PROFILES_FILE: Final = "AWS_CREDENTIAL_PROFILES_FILE"

# Set by Kubernetes.
KUBERNETES_SERVICE_HOST: Final = "KUBERNETES_SERVICE_HOST"
KUBERNETES_SERVICE_PORT: Final = "KUBERNETES_SERVICE_PORT"
HOSTNAME: Final = "HOSTNAME"
"""Name of the Pod, or its first 63 characters."""

# Set by Spark in executor Pods.
SPARK_APPLICATION_ID: Final = "SPARK_APPLICATION_ID"
SPARK_DRIVER_URL: Final = "SPARK_DRIVER_URL"
SPARK_EXECUTOR_CORES: Final = "SPARK_EXECUTOR_CORES"
SPARK_EXECUTOR_ID: Final = "SPARK_EXECUTOR_ID"
SPARK_EXECUTOR_MEMORY: Final = "SPARK_EXECUTOR_MEMORY"
SPARK_EXECUTOR_POD_IP: Final = "SPARK_EXECUTOR_POD_IP"
SPARK_EXECUTOR_POD_NAME: Final = "SPARK_EXECUTOR_POD_NAME"
SPARK_JAVA_OPT: Final = "SPARK_JAVA_OPT_"
"""A number from 0 follows."""
SPARK_RESOURCE_PROFILE_ID: Final = "SPARK_RESOURCE_PROFILE_ID"

# Set by the image, or by tests.
PAIMON_OPERATOR_ARCHIVE: Final = "PAIMON_OPERATOR_ARCHIVE"
"""The class-data archive."""
PAIMON_OPERATOR_HOME: Final = "PAIMON_OPERATOR_HOME"
"""The directory of the jars."""
PYSPARK_DIR: Final = "PYSPARK_DIR"
PYSPARK_PYTHON: Final = "PYSPARK_PYTHON"
PYTHONPATH: Final = "PYTHONPATH"
SPARK_APPS_DIR: Final = "SPARK_APPS_DIR"
SPARK_APPS_MAIN: Final = "SPARK_APPS_MAIN"
"""A program in place of driver/main.py."""
TERMINATION_LOG: Final = "TERMINATION_LOG"
"""File that the result is written to."""
TMPDIR: Final = "TMPDIR"
"""The only directory that is written to."""

# Set by Python for the libraries that it loads.
TOKIO_WORKER_THREADS: Final = "TOKIO_WORKER_THREADS"
"""Threads of each client of hdfs-native."""

# Set by entrypoint.sh for Java, Spark and Python.
SPARK_AUTH_SECRET: Final = "_SPARK_AUTH_SECRET"  # noqa: S105 - the variable's name
SPARK_CONF_DIR: Final = "SPARK_CONF_DIR"
SPARK_HOME: Final = "SPARK_HOME"
SPARK_LOCAL_DIRS: Final = "SPARK_LOCAL_DIRS"
SPARK_LOCAL_IP: Final = "SPARK_LOCAL_IP"
SPARK_USER: Final = "SPARK_USER"
