"""A driver whose work an executor does: `spark_with_executor.py MASTER TOKEN_FILE CA_FILE WAREHOUSE`.

Writes a Paimon table and answers, as one JSON line, what the executor calls itself and how many rows the table has.
"""

from __future__ import annotations

import json
import os
import sys

from pyspark.sql import SparkSession

master, token_file, ca_file, warehouse = sys.argv[1:]
options = {
    "spark.kubernetes.namespace": "default",
    "spark.kubernetes.container.image": "started-by-the-test",
    "spark.kubernetes.authenticate.oauthTokenFile": token_file,
    "spark.kubernetes.authenticate.caCertFile": ca_file,
    "spark.kubernetes.executor.disableConfigMap": "true",
    "spark.kubernetes.executor.podNamePrefix": "work",
    # Rights on Pods suffice only without these.
    "spark.kubernetes.driver.service.deleteOnTermination": "false",
    "spark.kubernetes.driver.ownPersistentVolumeClaim": "false",
    "spark.kubernetes.driver.reusePersistentVolumeClaim": "false",
    "spark.executor.instances": "1",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.catalog.lake": "org.apache.paimon.spark.SparkCatalog",
    "spark.sql.catalog.lake.warehouse": warehouse,
    "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
}
builder = SparkSession.builder.master(f"k8s://{master}")
for key, value in options.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sql("CREATE TABLE lake.default.t (id BIGINT) TBLPROPERTIES ('bucket'='-1')")
spark.range(1000).writeTo("lake.default.t").append()
workers = spark.sparkContext.parallelize([0], 1).map(lambda _: os.environ["SPARK_EXECUTOR_ID"]).collect()
answer = {"executors": workers, "rows": spark.table("lake.default.t").count()}
sys.stdout.write(json.dumps(answer) + "\n")
sys.stdout.flush()
spark.stop()
