"""Writes engines/<id>.json, the data of an engine, read from its jar: `python -m tools.engines.generate [--engine ID]`.

The shape of each file:
  procedures          name -> {arguments: [{name, type, required}], result}, types as Spark prints them
  systemTables        names that follow the $
  options             key -> {type, default (as Paimon stores it), values (of an enum), fallbackKeys, immutable}
  aggregateFunctions  name -> {types}: the column types two values of which the function really merged
  fileFormats         name -> compressions: with each of them a table was really written and read
  blockCompressions   compressions of what is spilled to the local disk
  statsModes          ways to keep a column's statistics
  widenings           root of a column's type -> root of a wider type -> file formats in which this loses nothing: rows
                      of before and after were really read and found, before and after a compaction
  schemaChanges       changes of a schema that were really made on tables with rows, which were read right afterwards
                      (schema_change_cases.py): nested ones in a ROW, an ARRAY<ROW> and a MAP<STRING, ROW>;
                      widenNestedField: the widenings above work in a ROW's field, an ARRAY's element and a MAP's value
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from paimon_engines.engine import Engine
from paimon_engines.loader import supported_engines
from tools.engines.aggregate_probe import TypeProbe
from tools.engines.fetch import fetch
from tools.engines.format_probe import FormatProbe
from tools.engines.probe_lake import EXTENSIONS, ProbeLake
from tools.engines.schema_change_probe import SchemaChangeProbe
from tools.engines.widening_probe import WideningProbe

AGGREGATES = "org/apache/paimon/mergetree/compact/aggregate/"


def describe(engine: Engine, jars: Path) -> dict[str, Any]:
    """Asks the jars in `jars` through a JVM of this process; a process can describe one engine only."""
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.extraClassPath", ":".join(str(path) for path in sorted(jars.glob("*.jar"))))
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.extensions", EXTENSIONS)
    )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        jvm: Any = session.sparkContext._jvm
        return {
            "engine": engine.id,
            "paimon": engine.paimon,
            "procedures": _procedures(jvm),
            "systemTables": sorted(jvm.org.apache.paimon.table.system.SystemTableLoader.SYSTEM_TABLES),
            "options": _options(jvm),
            "aggregateFunctions": _aggregate_functions(jvm, jars / engine.jars[0].file_name),
            **_formats(jvm),
            **_schema_evolution(session),
        }
    finally:
        session.stop()


def _procedures(jvm: Any) -> dict[str, Any]:
    registry = _static(jvm, "org.apache.paimon.spark.SparkProcedures", "BUILDERS")
    found = {}
    for name in registry.keySet():
        procedure = registry.get(name).get().withTableCatalog(None).build()
        arguments = [
            {"name": p.name(), "type": p.dataType().catalogString(), "required": p.required()}
            for p in procedure.parameters()
        ]
        found[str(name)] = {"arguments": arguments, "result": procedure.outputType().catalogString()}
    return found


def _options(jvm: Any) -> dict[str, Any]:
    immutable = set(_static(jvm, "org.apache.paimon.CoreOptions", "IMMUTABLE_OPTIONS"))
    found: dict[str, Any] = {}
    for field in jvm.java.lang.Class.forName("org.apache.paimon.CoreOptions").getFields():
        if field.getType().getName() == "org.apache.paimon.options.ConfigOption":
            option = field.get(None)
            found[option.key()] = {**_option(jvm, option), "immutable": option.key() in immutable}
    for key in immutable - found.keys():
        found[key] = {"type": "String", "default": None, "values": [], "fallbackKeys": [], "immutable": True}
    return found


def _option(jvm: Any, option: Any) -> dict[str, Any]:
    clazz = _private(option, "clazz")
    stored = jvm.org.apache.paimon.options.Options()
    if option.hasDefaultValue():
        stored.set(option, option.defaultValue())
    return {
        "type": clazz.getSimpleName(),
        "default": stored.toMap().get(option.key()),
        "values": [value.toString() for value in clazz.getEnumConstants()] if clazz.isEnum() else [],
        "fallbackKeys": [key.getKey() for key in option.fallbackKeys()],
    }


def _aggregate_functions(jvm: Any, jar: Path) -> dict[str, Any]:
    """Every class that names a function does so in a constant NAME; the primary key's own function is not for users."""
    with zipfile.ZipFile(jar) as archive:
        classes = [
            name.removesuffix(".class").replace("/", ".")
            for name in archive.namelist()
            if name.startswith(AGGREGATES) and name.endswith(".class") and "$" not in name
        ]
    names = {name for name in (_constant(jvm, each, "NAME") for each in classes) if name}
    probe = TypeProbe(jvm)
    return {name: {"types": probe.types_of(name)} for name in names - {"primary-key"}}


def _formats(jvm: Any) -> dict[str, Any]:
    probe = FormatProbe(jvm)
    try:
        return {
            "fileFormats": probe.file_formats(),
            "blockCompressions": probe.block_compressions(),
            "statsModes": probe.stats_modes(),
        }
    finally:
        probe.close()


def _schema_evolution(session: SparkSession) -> dict[str, Any]:
    lake = ProbeLake(session)
    try:
        widening = WideningProbe(lake)
        nested = ["widenNestedField"] if widening.widens_nested() else []
        changes = [*SchemaChangeProbe(lake).schema_changes(), *nested]
        return {"widenings": widening.widenings(), "schemaChanges": sorted(changes)}
    finally:
        lake.close()


def _constant(jvm: Any, class_name: str, field_name: str) -> str | None:
    clazz = jvm.java.lang.Class.forName(class_name)
    fields = {field.getName(): field for field in clazz.getDeclaredFields()}
    return str(fields[field_name].get(None)) if field_name in fields else None


def _static(jvm: Any, class_name: str, field_name: str) -> Any:
    field = jvm.java.lang.Class.forName(class_name).getDeclaredField(field_name)
    field.setAccessible(True)
    return field.get(None)


def _private(instance: Any, field_name: str) -> Any:
    field = instance.getClass().getDeclaredField(field_name)
    field.setAccessible(True)
    return field.get(instance)


def render(data: dict[str, Any]) -> str:
    """The text of an engine file: sorted and indented, so that a diff shows what changed."""
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def target(engine: Engine) -> Path:
    """Where an engine's file lives in the source tree."""
    return Path(__file__).parents[2] / "operator" / "paimon_engines" / f"{engine.id}.json"


def main(arguments: list[str] | None = None) -> int:
    """Writes the files of all engines whose jars can be had, or prints one to standard output."""
    parser = argparse.ArgumentParser(prog="python -m tools.engines.generate")
    parser.add_argument("--engine", choices=list(supported_engines()))
    parser.add_argument("--print", action="store_true", help="with --engine: print instead of writing")
    given = parser.parse_args(arguments)
    if given.engine:
        engine = supported_engines()[given.engine]
        there = fetch(engine)
        if there.directory is None:
            sys.stderr.write(f"{engine.id}: {there.reason}\n")
            return 1
        text = render(describe(engine, there.directory))
        if given.print:
            sys.stdout.write(text)
        else:
            target(engine).write_text(text, encoding="utf-8")
        return 0
    commands = [[sys.executable, "-m", "tools.engines.generate", "--engine", name] for name in supported_engines()]
    return max(subprocess.run(command, check=False).returncode for command in commands)


if __name__ == "__main__":
    sys.exit(main())
