"""spark_apps.driver.main, which prints all readable settings of the driver at its end: options and JVM properties."""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

from spark_apps.catalog.session import Session
from spark_apps.driver import main

close = Session.close


def print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def print_settings(self: Session) -> None:
    """Prints the Environment page of Spark's UI, `SET -v` and Hadoop's configuration."""
    spark: Any = self.spark
    for key, value in spark.sparkContext.getConf().getAll():
        print_line(f"conf {key}={value}")
    for row in spark.sql("SET -v").collect():
        print_line(f"set {row}")
    hadoop = spark.sparkContext._jsc.hadoopConfiguration().iterator()
    while hadoop.hasNext():
        entry = hadoop.next()
        print_line(f"hadoop {entry.getKey()}={entry.getValue()}")
    for key in self.jvm.java.lang.System.getProperties().stringPropertyNames():
        print_line(f"property {key}={self.jvm.java.lang.System.getProperty(key)}")
    close(self)


with mock.patch.object(Session, "close", print_settings):
    sys.exit(main.main(sys.argv[1:]))
