"""The kept list of generated manifests is what the generator makes of the CRD, the rules and the engine data."""

from __future__ import annotations

from tests.support.generated_manifests.domain import NEVER
from tests.support.generated_manifests.generator import manifest
from tests.support.generated_manifests.kept import ACCEPTED, COUNT, FILE, kept, line
from tests.support.spec_paths import paths_of, paths_of_schema

LEAST_ACCEPTED = 150


def test_the_kept_list_is_what_the_generator_makes() -> None:
    changed = [each for each in FILE.read_text().splitlines() if line(int(each.split()[0])) != each]
    assert changed == [], "run `make generate`, then tests/spark/test_generated_manifests.py on every engine"


def test_the_list_has_so_many_manifests_and_accepts_enough_of_them_on_each_engine() -> None:
    assert len(set(kept())) == COUNT
    verdicts = zip(*(each.split()[2:] for each in FILE.read_text().splitlines()), strict=True)
    assert all(of_engine.count(ACCEPTED) >= LEAST_ACCEPTED for of_engine in verdicts)


def test_every_field_of_the_table_is_set_in_some_manifest() -> None:
    given = {path for number in kept() for path in paths_of(manifest(number)["spec"], "spec")}
    unset = [path for path in paths_of_schema("PaimonTable") if path not in given and not path.startswith(NEVER)]
    assert unset == []
