"""The images that anybody can build from a clone: what goes in is pinned, and each builder gets the right commands."""

from __future__ import annotations

import importlib.metadata
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.cluster.cache import CHECKOUT
from tools.images import builder, lock, metadata
from tools.images.publish import Images, chosen_engines, loader, publish, pusher

DOCKERFILES: Final = ("Dockerfile", "Dockerfile.spark")
PROJECT: Final = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
CONSTRAINED: Final = dict(line.split("==") for line in lock.CONSTRAINTS.read_text().split())


def listed(name: str) -> Mapping[str, str]:
    """The versions of a list by package."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", (lock.DIRECTORY / name).read_text(), re.MULTILINE))


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-").replace(".", "-")


@pytest.mark.parametrize(
    ("name", "requirements"),
    [
        ("operator.txt", PROJECT["dependencies"]),
        ("spark.txt", [each for each in PROJECT["optional-dependencies"]["spark"] if name_of(each) != lock.NO_WHEEL]),
        ("pyspark.txt", ["pyspark"]),
    ],
)
def test_a_list_has_what_the_project_asks_for_in_the_versions_of_the_constraints(
    name: str, requirements: list[str]
) -> None:
    found = listed(name)
    assert {name_of(each) for each in requirements} <= set(found)
    assert found == {package: CONSTRAINED[package] for package in found}, "run: make lock"


@pytest.mark.parametrize(
    ("machine", "name"), [("x86_64", "x86_64"), ("amd64", "x86_64"), ("aarch64", "aarch64"), ("arm64", "aarch64")]
)
def test_wheels_are_asked_for_by_a_name_that_wheels_have(machine: str, name: str) -> None:
    assert lock.architecture(machine) == name


def test_a_machine_without_packages_is_named_with_those_that_have_some() -> None:
    with pytest.raises(ValueError, match="no packages for riscv64: the images are for x86_64 and aarch64"):
        lock.architecture("riscv64")


@pytest.mark.parametrize("name", ["operator.txt", "spark.txt", "pyspark.txt", "pip.txt"])
def test_each_package_has_a_hash(name: str) -> None:
    packages = re.split(r"^(?=[a-z])", (lock.DIRECTORY / name).read_text(), flags=re.MULTILINE)[1:]
    assert len(packages) == len(listed(name)) > 0
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\n", each) for each in packages)


def test_what_has_compiled_parts_has_a_hash_for_each_architecture() -> None:
    text = (lock.DIRECTORY / "operator.txt").read_text() + (lock.DIRECTORY / "spark.txt").read_text()
    for package in ("aiohttp", "pydantic-core", "fastavro", "hdfs-native", "backports-zstd"):
        (found,) = re.findall(rf"^{package}==.*\n((?:    --hash.*\n)+)", text, re.MULTILINE)
        assert found.count("--hash") == len(lock.ARCHITECTURES), package


@pytest.mark.parametrize("name", DOCKERFILES)
class TestDockerfile:
    def test_its_base_is_public_and_named_by_digest(self, name: str) -> None:
        text = (CHECKOUT / name).read_text()
        (base,) = re.findall(r"^ARG BASE_IMAGE=(.*)$", text, re.MULTILINE)
        assert re.fullmatch(r"debian:bookworm-slim@sha256:[0-9a-f]{64}", base)
        assert base in (CHECKOUT / "Dockerfile").read_text(), "one base for both"

    def test_pip_takes_no_file_without_its_hash(self, name: str) -> None:
        text = (CHECKOUT / name).read_text().replace("\\\n", " ")
        installs = [each for each in re.findall(r"pip install ([^&\n]*)", text) if "pyspark-*.whl" not in each]
        assert len(installs) >= 2
        assert all("--require-hashes" in each and "--no-deps" in each for each in installs)

    def test_it_names_no_platform(self, name: str) -> None:
        assert not re.search(r"--platform|amd64|x86_64|aarch64", re.sub(r"#.*", "", (CHECKOUT / name).read_text()))

    def test_the_build_context_of_a_clone_has_all_that_it_copies(self, name: str) -> None:
        copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (CHECKOUT / name).read_text(), re.MULTILINE)
        sources = {each.removeprefix("${TRAINING}/") for line in copied for each in line.split()}
        sent = re.findall(r"^!(\S+)$", (CHECKOUT / ".dockerignore").read_text(), re.MULTILINE)
        of_clone = {each for each in sources if not each.startswith("prefetched")}
        assert of_clone
        for source in of_clone:
            assert (CHECKOUT / source).exists()
            assert any(Path(source).is_relative_to(place) for place in sent), source


@pytest.mark.parametrize(
    ("choice", "engines"),
    [("newest", ["paimon-1.4"]), ("all", ["paimon-0.9", "paimon-1.4"]), ("paimon-0.9", ["paimon-0.9"])],
)
def test_engines_are_chosen_by_id_or_by_a_word(choice: str, engines: list[str]) -> None:
    assert chosen_engines(choice) == engines


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(ValueError, match=r"no engine paimon-7: known are paimon-0\.9, paimon-1\.4"):
        chosen_engines("paimon-0.9,paimon-7")


def recorder(directory: Path, program: str) -> builder.ImageBuilder:
    """A builder that writes down its commands, and says the digest of what it has pushed as the real one does."""
    log, path = directory / "log", directory / program
    path.write_text(
        f"""#!/usr/bin/env python3
import json, sys
with open({str(log)!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
for word in sys.argv:
    if word.startswith("--digestfile="):
        open(word.partition("=")[2], "w").write("sha256:{program}")
if sys.argv[1] == "image":
    print("other/image@sha256:1", sys.argv[-1].rpartition(":")[0] + "@sha256:{program}", sep="\\n")
"""
    )
    path.chmod(0o755)
    environment = {"BUILDER": str(path), "BUILD_FLAGS": "--build-arg 'A=b c'", "PUSH_FLAGS": "--quiet"}
    made = builder.image_builder(environment)
    return builder.ImageBuilder(str(path), made.build_flags, made.push_flags)


def commands(directory: Path) -> list[list[str]]:
    return [json.loads(line) for line in (directory / "log").read_text().splitlines()]


@pytest.mark.parametrize("program", builder.KNOWN)
def test_each_builder_builds_and_pushes_and_tells_the_digest(program: str, tmp_path: Path) -> None:
    made = recorder(tmp_path, program)
    images = publish(made, ["paimon-0.9"], pusher(made), prefix="host/me", tag="1")
    digest = f"@sha256:{program}"
    assert images == Images(f"host/me/paimon-operator{digest}", {"paimon-0.9": f"host/me/paimon-spark{digest}"})
    build = next(each for each in commands(tmp_path) if "--tag=host/me/paimon-spark:paimon-0.9-1" in each)
    assert build[0] == "build"
    assert build[-1] == str(CHECKOUT)
    assert {"--build-arg=ENGINE=paimon-0.9", "--build-arg=PACKAGES=network", "A=b c"} <= set(build)
    assert [each[-1] for each in commands(tmp_path) if each[0] == "push"] == [
        "host/me/paimon-operator:1",
        "host/me/paimon-spark:paimon-0.9-1",
    ]


QUICKSTART_ENGINE: Final = "paimon-0.9"


def test_the_quickstart_and_the_chart_name_the_images_as_they_are_built(tmp_path: Path) -> None:
    built = publish(recorder(tmp_path, "docker"), [QUICKSTART_ENGINE], str)
    page = (CHECKOUT / "docs" / "quickstart.md").read_text()
    assert f"docker build --tag {built.operator} ." in page
    assert f"--tag {built.spark[QUICKSTART_ENGINE]} " in page
    assert f"kind load docker-image {built.operator} {built.spark[QUICKSTART_ENGINE]}\n" in page
    values = yaml.safe_load((CHECKOUT / "charts" / "paimon-operator" / "values.yaml").read_text())
    assert values["spark"]["images"] == built.spark
    example = yaml.safe_load_all((CHECKOUT / "examples" / "quickstart.yaml").read_text())
    images = [box["image"] for each in example if each["kind"] == "Pod" for box in each["spec"]["containers"]]
    assert images == [built.spark[QUICKSTART_ENGINE]]


def test_a_loader_gets_each_image_by_its_tag(tmp_path: Path) -> None:
    made = recorder(tmp_path, "docker")
    images = publish(made, ["paimon-1.4"], loader(f"{made.program} load --name mine"), tag="1")
    assert images == Images("paimon-operator:1", {"paimon-1.4": "paimon-spark:paimon-1.4-1"})
    loads = [each for each in commands(tmp_path) if each[0] == "load"]
    assert loads == [["load", "--name", "mine", image] for image in (images.operator, images.spark["paimon-1.4"])]


def test_a_missing_builder_is_named() -> None:
    with pytest.raises(builder.NoBuilderError, match="no-such-builder is not installed: install docker, podman"):
        builder.image_builder({"BUILDER": "no-such-builder"})


def test_the_version_of_the_operator_is_found_beside_its_sources(tmp_path: Path) -> None:
    metadata.main([str(CHECKOUT / "pyproject.toml"), str(tmp_path)])
    (found,) = importlib.metadata.distributions(name=PROJECT["name"], path=[str(tmp_path)])
    assert found.version == PROJECT["version"]
