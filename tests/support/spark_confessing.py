"""spark_apps.driver.main, followed by all that anyone could read of the driver: configurations and JVM properties."""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

from spark_apps.catalog.session import Session
from spark_apps.driver import main

close = Session.close


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def confess(self: Session) -> None:
    """What the Environment page of Spark's UI shows, `SET -v`, and Hadoop's configuration."""
    spark: Any = self.spark
    for key, value in spark.sparkContext.getConf().getAll():
        say(f"conf {key}={value}")
    for row in spark.sql("SET -v").collect():
        say(f"set {row}")
    hadoop = spark.sparkContext._jsc.hadoopConfiguration().iterator()
    while hadoop.hasNext():
        entry = hadoop.next()
        say(f"hadoop {entry.getKey()}={entry.getValue()}")
    for key in self.jvm.java.lang.System.getProperties().stringPropertyNames():
        say(f"property {key}={self.jvm.java.lang.System.getProperty(key)}")
    close(self)


with mock.patch.object(Session, "close", confess):
    sys.exit(main.main(sys.argv[1:]))
