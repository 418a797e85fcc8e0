"""A location whose address changes loads nothing again; a replaced file is new wherever it is."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

import pytest

from spark_apps.loading.file_identity import identities, place_of
from spark_apps.loading.input_files import InputFile


def file(path: str, location: str = "", name: str = "landing", size: int = 10, version: str = "v") -> InputFile:
    """A file; without a `location`, as release 0.1 has recorded it."""
    return InputFile(path, size, version, place=place_of(path, location, name) if location else "")


def is_same(one: InputFile, other: InputFile) -> bool:
    return not set(identities(one)).isdisjoint(identities(other))


NN, HA = "hdfs://nn:8020/landing/", "hdfs://lake/landing/"
MOVES = [
    ("nothing", file(f"{NN}a/1.csv", NN), file(f"{NN}a/1.csv", NN), True),
    ("NameNode to nameservice", file(f"{NN}a/1.csv", NN), file(f"{HA}a/1.csv", HA), True),
    ("NameNode to nameservice, recorded by release 0.1", file(f"{NN}a/1.csv"), file(f"{HA}a/1.csv", HA), True),
    ("s3 to s3a, recorded by release 0.1", file("s3://landing/1.csv"), file("s3a://landing/1.csv", "s3a://landing/"), True),
    ("an URI without an authority", file("file:/landing/1.csv"), file("file:///landing/1.csv", "file:///landing"), True),
    ("another bucket for the location", file("s3://old/in/1.csv", "s3://old/in"), file("s3://new/1.csv", "s3://new/"), True),
    ("from HDFS to S3 with the same version", file(f"{NN}1.csv", NN), file("s3://new/1.csv", "s3://new/"), True),
    ("odd characters", file(f"{NN}a #1?.csv", NN), file(f"{HA}a #1?.csv", HA), True),
    ("another location", file("s3://a/1.csv", "s3://a/", "a"), file("s3://b/1.csv", "s3://b/", "b"), False),
    ("another bucket, recorded by release 0.1", file("s3://old/1.csv"), file("s3://new/1.csv", "s3://new/"), False),
    ("another folder", file(f"{NN}a/1.csv", NN), file(f"{NN}b/1.csv", NN), False),
    ("replaced: another size", file(f"{NN}1.csv", NN), file(f"{HA}1.csv", HA, size=11), False),
    ("replaced: another time or ETag", file(f"{NN}1.csv", NN), file(f"{HA}1.csv", HA, version="w"), False),
]  # fmt: skip


@pytest.mark.parametrize(("moved", "before", "now", "same"), MOVES, ids=[case[0] for case in MOVES])
def test_a_file_is_known_by_its_place_and_its_version(
    moved: str, before: InputFile, now: InputFile, same: bool
) -> None:
    assert is_same(before, now) is same, moved


@pytest.mark.parametrize(
    ("path", "location", "name", "place"),
    [
        ("s3a://landing/a/1.csv", "s3://landing/", "landing", "landing:a/1.csv"),
        ("hdfs://nn/landing/1.csv", "hdfs://nn/landing", "landing", "landing:1.csv"),
        ("hdfs://nn/landing-2/1.csv", "hdfs://nn/landing", "landing", ""),
        ("s3://landing/1.csv", "s3://landing/", "", ""),
    ],
)
def test_the_place_is_the_path_below_the_location(path: str, location: str, name: str, place: str) -> None:
    assert place_of(path, location, name) == place
