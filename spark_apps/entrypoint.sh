#!/bin/sh
# Entry of the Spark image.
#   entrypoint.sh driver JOB.json   runs one job and ends with its exit code
#   entrypoint.sh batch             runs the jobs of several runs in turn, from the variables BATCH_CONFIG and BATCH_JOB_<n>
#   entrypoint.sh executor          serves a driver that has made this Pod; Spark's own SPARK_* variables say which and how
#   entrypoint.sh observer          looks at the metadata of a catalog's tables until it is terminated; starts no JVM
#   entrypoint.sh train             writes the class-data archive that makes the next starts fast
# From the environment: DRIVER_CORES (1), DRIVER_HEAP (1g), DRIVER_JIT (c1 | tiered: long, computing runs), POD_IP (of a
# driver that makes executors: where they reach it), TRY_WITHOUT_JVM (set: the job may need no JVM), DRIVER_DEADLINE_S
# (killed after so many seconds), TERMINATION_LOG, TMPDIR (/tmp, the only place written to), PAIMON_OPERATOR_HOME (the
# directory of jars/ and app.jsa), SPARK_APPS_MAIN (a program in place of driver/main.py, for tests).
#
# java is started here and not by spark-submit's script, which would start one more JVM to compose this command line, and
# whose class path with wildcards has no fixed order: an archive fits only the very class path it was made with.
set -eu
LC_ALL=C
home=${PAIMON_OPERATOR_HOME:-$(dirname "$(readlink -f "$0")")}
archive=${PAIMON_OPERATOR_ARCHIVE:-$home/app.jsa}
tmp=${TMPDIR:-/tmp}

python=${PYSPARK_PYTHON:-python3}
if [ -z "${PYSPARK_DIR:-}" ] || [ -z "${SPARK_APPS_DIR:-}" ]; then
  found=$("$python" -c '
from importlib.util import find_spec
for name in ("pyspark", "spark_apps"):
    print(f"{name.upper()}_DIR={find_spec(name).submodule_search_locations[0]!r}")')
  eval "$found"
fi

# A uid that a platform has chosen (spark.uid null in the chart) has no entry in /etc/passwd, and so no name, without
# which Java logs nobody in. The root file system is read-only, so a library answers from another file.
uid=$(id -u)
if ! getent passwd "$uid" >/dev/null; then
  { cat /etc/passwd; echo "spark$uid:x:$uid:$(id -g):Spark:/tmp:/usr/sbin/nologin"; } >"$tmp/passwd"
  export NSS_WRAPPER_PASSWD="$tmp/passwd" NSS_WRAPPER_GROUP=/etc/group LD_PRELOAD=libnss_wrapper.so
fi
export HADOOP_USER_NAME="${HADOOP_USER_NAME:-spark}"

# Python is the first process then, and takes SIGTERM.
[ "${1:-}" != observer ] || exec "$python" -m spark_apps.observer.main

class_path=
for jar in "$home"/jars/*.jar "$PYSPARK_DIR"/jars/*.jar; do
  class_path=$class_path:$jar
done

export SPARK_USER="${SPARK_USER:-$HADOOP_USER_NAME}" # who executors are to an HDFS without Kerberos
export SPARK_LOCAL_DIRS="${SPARK_LOCAL_DIRS:-$tmp}"
# With SPARK_HOME set, Python would import pyspark from a zip file, without compiled modules.
unset SPARK_HOME SPARK_CONF_DIR
export PYSPARK_PYTHON="$python" PYTHONPATH="$(dirname "$SPARK_APPS_DIR")${PYTHONPATH:+:$PYTHONPATH}"

# What Spark's own launcher opens for Java 17 (org.apache.spark.launcher.JavaModuleOptions).
opens=
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent \
  java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  opens="$opens --add-opens=java.base/$package=ALL-UNNAMED"
done
opens="$opens --add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
fixed="-XX:+ExitOnOutOfMemoryError -Djdk.reflect.useDirectMethodHandle=false -Dio.netty.tryReflectionSetAccessible=true
  -Duser.timezone=UTC"

# Some jobs end without a JVM. The program that finds out reads a few small files, ends with a code of a driver (0, or
# 10 to 49: ExitCode of paimon_contract/exit_codes.py) only if it has left the driver's report, and with any other when
# Spark has to start. Its time counts for the deadline. A first process gets no SIGTERM that it does not trap.
if [ "${1:-}" = driver ] && [ -n "${TRY_WITHOUT_JVM:-}" ]; then
  began=$(date +%s)
  trap 'exit 143' TERM
  code=0 most=60
  [ "${DRIVER_DEADLINE_S:-$most}" -ge "$most" ] || most=$DRIVER_DEADLINE_S
  timeout --foreground --signal=KILL "$most" "$python" -m spark_apps.driver.without_jvm "${2:-}" || code=$?
  case $code in 0 | [1-4][0-9]) exit "$code" ;; esac
  trap - TERM
  [ -z "${DRIVER_DEADLINE_S:-}" ] || DRIVER_DEADLINE_S=$((DRIVER_DEADLINE_S - ($(date +%s) - began)))
  [ "${DRIVER_DEADLINE_S:-1}" -gt 0 ] || exit 137
fi

# Java's own authorities and those that the catalog names. keytool takes one certificate at a time, half a second each,
# so those that the system trusts anyway are left out of a bundle.
if [ -n "${STORAGE_CA_FILE:-}" ]; then
  trusted=$tmp/authorities
  mkdir -p "$trusted"
  system=/etc/ssl/certs/ca-certificates.crt
  [ -f "$system" ] || system=/dev/null
  awk -v into="$trusted/" '
    { sub(/\r$/, "") }
    /-----BEGIN CERTIFICATE-----/ { body = ""; within = 1 }
    within { body = body $0 "\n" }
    /-----END CERTIFICATE-----/ {
      within = 0
      if (FILENAME == ARGV[1]) { known[body]; next }
      if (!(body in known)) { file = into (++n) ".crt"; printf "%s", body > file; close(file) }
    }' "$system" "$STORAGE_CA_FILE"
  cp "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")/lib/security/cacerts" "$trusted/store"
  chmod u+w "$trusted/store"
  grep -q -e "-----BEGIN CERTIFICATE-----" "$STORAGE_CA_FILE" || {
    echo "ca.crt of the catalog's caConfigMapRef holds no certificate" >&2
    exit 25
  }
  for certificate in "$trusted"/*.crt; do
    [ -e "$certificate" ] || continue
    # "changeit" opens every Java's store, and guards nothing: a certificate is no secret.
    keytool -importcert -noprompt -trustcacerts -alias "storage-${certificate##*/}" -file "$certificate" \
      -keystore "$trusted/store" -storepass changeit >/dev/null 2>"$trusted/said" || {
      cat "$trusted/said" >&2
      echo "ca.crt of the catalog's caConfigMapRef holds something that is no certificate" >&2
      exit 25
    }
  done
  fixed="$fixed -Djavax.net.ssl.trustStore=$trusted/store -Djavax.net.ssl.trustStorePassword=changeit"
fi

case ${1:-} in
  executor)
    # As in org.apache.spark.deploy.k8s.features.BasicExecutorFeatureStep; java options are numbered from 0.
    shift $#
    number=0
    while eval "option=\${SPARK_JAVA_OPT_$number-}" && [ -n "$option" ]; do
      set -- "$@" "$option"
      number=$((number + 1))
    done
    # The driver has checked its own copy, and the ConfigMap may have changed since.
    [ -z "${KRB5_CONFIG:-}" ] || "$python" -c '
import sys, pathlib, spark_apps.storage.hadoop_files as files
files.check_krb5(pathlib.Path(sys.argv[1]))' "$KRB5_CONFIG"
    # What proves to the driver that this is its executor; see spark_apps/executors/shared_secret.py.
    own_secret=$("$python" -m spark_apps.executors.shared_secret)
    [ -z "$own_secret" ] || export _SPARK_AUTH_SECRET="$own_secret"
    cds="-XX:SharedArchiveFile=$archive"
    [ -f "$archive" ] || cds=-Xshare:auto
    gc=-XX:+UseSerialGC
    [ "$SPARK_EXECUTOR_CORES" = 1 ] || gc=-XX:+UseG1GC
    # shellcheck disable=SC2086  # the lists are meant to fall apart into words
    exec java $gc "$cds" -Xlog:cds=off -Xlog:cds+dynamic=off "$@" -Xmx"$SPARK_EXECUTOR_MEMORY" $fixed $opens \
      ${KRB5_CONFIG:+"-Djava.security.krb5.conf=$KRB5_CONFIG"} \
      -Duser.home="$tmp" -Djava.io.tmpdir="$tmp" \
      -Dlog4j2.configurationFile="file:$SPARK_APPS_DIR/log4j2.properties" \
      -cp "${class_path#:}" org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
      --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
      --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
      --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
    ;;
  driver)
    program=${SPARK_APPS_MAIN:-$SPARK_APPS_DIR/driver/main.py}
    cds="-XX:SharedArchiveFile=$archive"
    [ -f "$archive" ] || cds=-Xshare:auto
    ;;
  batch)
    program=${SPARK_APPS_MAIN:-$SPARK_APPS_DIR/driver/batch.py}
    cds="-XX:SharedArchiveFile=$archive"
    [ -f "$archive" ] || cds=-Xshare:auto
    ;;
  train)
    program=$(dirname "$SPARK_APPS_DIR")/tools/engines/train_cds.py
    cds="-XX:ArchiveClassesAtExit=$archive"
    ;;
  *)
    echo "usage: entrypoint.sh driver JOB.json | batch | executor | observer | train" >&2
    exit 64
    ;;
esac
shift

case ${DRIVER_JIT:-c1} in
  c1) jit=-XX:TieredStopAtLevel=1 ;;
  *) jit=-XX:+TieredCompilation ;;
esac
# Without executors one process does everything, so the pod's own name need not resolve.
export SPARK_LOCAL_IP="${SPARK_LOCAL_IP:-${POD_IP:-127.0.0.1}}"

# A kubelet ends what takes too long; where it is dead and the container lives on, the container does so itself, or two
# drivers would be at work once the operator has stopped waiting.
# shellcheck disable=SC2086  # the lists are meant to fall apart into words
exec ${DRIVER_DEADLINE_S:+timeout --foreground --signal=KILL "$DRIVER_DEADLINE_S"} java -Xmx"${DRIVER_HEAP:-1g}" -XX:+UseSerialGC $jit "$cds" -Xlog:cds=off -Xlog:cds+dynamic=off $fixed $opens \
  ${KRB5_CONFIG:+"-Djava.security.krb5.conf=$KRB5_CONFIG"} \
  -Duser.home="$tmp" -Djava.io.tmpdir="$tmp" \
  -Dlog4j2.configurationFile="file:$SPARK_APPS_DIR/log4j2.properties" \
  -cp "${class_path#:}" org.apache.spark.deploy.SparkSubmit \
  --master "local[${DRIVER_CORES:-1}]" --conf "spark.jars.ivy=$tmp/.ivy2" \
  "$program" "$@"
