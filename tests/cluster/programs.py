"""The Go programs of the node, built from the module proxy into the cache.

A version stands in one place only: the `require` line of the program's module, `go/<directory>/go.mod`. All programs of
a module are built by one command, which compiles the packages that they share once and uses all cores.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.cache import cached
from tests.cluster.progress import run_with_progress

MODULES = Path(__file__).parent / "go"
_FEWER_COLLECTIONS = {"GOGC": "400"}
"""For the compiler: a fifth less time, and a few hundred MB more memory."""


@dataclass(frozen=True)
class Program:
    """One program: the directory under `go/` that pins it, the module that holds it and its package in that module."""

    name: str
    directory: str
    module: str
    package: str = ""
    version_variable: str = ""
    """Go variable that the program reports as its version; without it a kubelet calls itself v0.0.0."""
    tags: str = field(default="", repr=False)
    """Build tags, the same for all programs of a directory."""

    @property
    def version(self) -> str:
        """The version that `go.mod` requires, such as v1.34.4."""
        text = (MODULES / self.directory / "go.mod").read_text()
        found = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)$", text, re.MULTILINE)
        if not found:
            raise LookupError(f"go/{self.directory}/go.mod does not require {self.module}")
        return found.group(1)

    @property
    def path(self) -> Path:
        """The built program; builds it, and the others of its directory, first if the cache lacks them."""
        return _built(self.directory) / self.name

    @property
    def built_as(self) -> str:
        """Name that `go build` gives the program: the package's last part that is no version."""
        parts = (self.module + self.package).split("/")
        return next(part for part in reversed(parts) if not re.fullmatch(r"v\d+", part))

    def link_flags(self) -> str:
        """Flags that set the version."""
        return f"-X {self.version_variable}={self.version}" if self.version_variable else ""


def _kubernetes(name: str) -> Program:
    variable = "k8s.io/component-base/version.gitVersion"
    return Program(name, "node", "k8s.io/kubernetes", f"/cmd/{name}", variable)


ETCD = Program("etcd", "node", "go.etcd.io/etcd/server/v3")
KUBE_APISERVER = _kubernetes("kube-apiserver")
KUBE_CONTROLLER_MANAGER = _kubernetes("kube-controller-manager")
KUBE_SCHEDULER = _kubernetes("kube-scheduler")
KUBELET = _kubernetes("kubelet")
KUBE_PROXY = _kubernetes("kube-proxy")
KUBECTL = _kubernetes("kubectl")
HELM = Program("helm", "node", "helm.sh/helm/v3", "/cmd/helm", "helm.sh/helm/v3/internal/version.version")
VERSITYGW = Program("versitygw", "versitygw", "github.com/versity/versitygw", "/cmd/versitygw", "main.Version")
REGISTRY = Program("registry", "registry", "github.com/distribution/distribution/v3", "/cmd/registry")
_UNITTEST = "github.com/helm-unittest/helm-unittest"
HELM_UNITTEST = Program("helm-unittest", "helm-unittest", _UNITTEST, "/cmd/helm-unittest")
_PROMETHEUS = "github.com/prometheus/prometheus"
_WITHOUT_CLOUDS = "remove_all_sd"
"""Without service discovery: the libraries of 25 clouds are most of the build."""
PROMETHEUS = Program("prometheus", "prometheus", _PROMETHEUS, "/cmd/prometheus", tags=_WITHOUT_CLOUDS)
PROMTOOL = Program("promtool", "prometheus", _PROMETHEUS, "/cmd/promtool", tags=_WITHOUT_CLOUDS)
KUBE_STATE_METRICS = Program("kube-state-metrics", "kube-state-metrics", "k8s.io/kube-state-metrics/v2")
_LOCAL_PATH = "github.com/rancher/local-path-provisioner"
LOCAL_PATH_PROVISIONER = Program("local-path-provisioner", "local-path-provisioner", _LOCAL_PATH)
HELM_DOCS = Program("helm-docs", "helm-docs", "github.com/norwoodj/helm-docs", "/cmd/helm-docs", "main.version")

NODE = {
    program.name: program
    for program in (
        VERSITYGW,
        ETCD,
        KUBE_APISERVER,
        KUBECTL,
        KUBE_CONTROLLER_MANAGER,
        KUBE_SCHEDULER,
        KUBELET,
        KUBE_PROXY,
        HELM,
    )
}
"""What runs on the node, and what works with it."""
_OF_TESTS = (REGISTRY, HELM_UNITTEST, HELM_DOCS, PROMETHEUS, PROMTOOL, KUBE_STATE_METRICS, LOCAL_PATH_PROVISIONER)
PROGRAMS = NODE | {program.name: program for program in _OF_TESTS}


def build(names: Iterable[str] = ()) -> list[Path]:
    """Returns the paths of the named programs (the node's without a name), each built if the cache lacks it.

    Modules are built in turn, because each build uses all cores, and two at once compile the standard library twice.
    """
    return [PROGRAMS[name].path for name in (tuple(names) or NODE)]


def _built(directory: str) -> Path:
    """Returns the directory with all programs of a module."""
    programs = [program for program in PROGRAMS.values() if program.directory == directory]
    pinned = b"".join((MODULES / directory / name).read_bytes() for name in ("go.mod", "go.sum"))
    digest = hashlib.sha256(pinned + (repr(programs) + programs[0].tags).encode()).hexdigest()[:12]
    return cached("programs", f"{directory}-{digest}", lambda into: _build(programs, into))


def _build(programs: list[Program], into: Path) -> None:
    directory = programs[0].directory
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-gcflags=all=-dwarf=false"]
    command += ["-ldflags", _link_flags(programs), "-tags", programs[0].tags]
    # The slash makes `go` take it for a directory, even when there is one program.
    command += ["-o", f"{into}/", *(program.module + program.package for program in programs)]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", **_FEWER_COLLECTIONS}
    print(f"go/{directory}: {', '.join(f'{program.name} {program.version}' for program in programs)}", flush=True)
    run_with_progress(f"building go/{directory}", command, cwd=MODULES / directory, env=environment)
    for program in programs:
        (into / program.built_as).rename(into / program.name)


def _link_flags(programs: list[Program]) -> str:
    flags = ["-s -w", *sorted({program.link_flags() for program in programs})]
    if KUBELET in programs:
        major, minor, _ = KUBELET.version.removeprefix("v").split(".", 2)
        base = "k8s.io/component-base/version"
        flags += [f"-X {base}.gitMajor={major}", f"-X {base}.gitMinor={minor}", f"-X {base}.gitTreeState=clean"]
    return " ".join(flag for flag in flags if flag)
