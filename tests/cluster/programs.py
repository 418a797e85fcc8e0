"""The Go programs of the node, built once per version from the module proxy into the cache.

A version stands in one place only: the `require` line of the program's own `go/<module>/go.mod`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.cache import cached
from tests.cluster.progress import run_with_progress

MODULES = Path(__file__).parent / "go"


@dataclass(frozen=True)
class Program:
    """One program: the directory under `go/` that pins it, the module that holds it and its package in that module."""

    name: str
    directory: str
    module: str
    package: str = ""
    version_variable: str = ""
    """Go variable that the program reports as its version; without it a kubelet calls itself v0.0.0."""

    @property
    def version(self) -> str:
        text = (MODULES / self.directory / "go.mod").read_text()
        found = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)$", text, re.MULTILINE)
        if not found:
            raise LookupError(f"go/{self.directory}/go.mod does not require {self.module}")
        return found.group(1)

    @property
    def path(self) -> Path:
        """The built program; builds it first if the cache lacks it."""
        return cached("programs", f"{self.name}-{self.version}", self._build) / self.name

    def _build(self, into: Path) -> None:
        command = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", self._link_flags()]
        command += ["-o", str(into / self.name), self.module + self.package]
        environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
        run_with_progress(
            f"building {self.name} {self.version}", command, cwd=MODULES / self.directory, env=environment
        )

    def _link_flags(self) -> str:
        flags = "-s -w"
        if self.version_variable:
            flags += f" -X {self.version_variable}={self.version}"
        if self.directory == "kubernetes":
            major, minor, _ = self.version.removeprefix("v").split(".", 2)
            base = "k8s.io/component-base/version"
            flags += f" -X {base}.gitMajor={major} -X {base}.gitMinor={minor} -X {base}.gitTreeState=clean"
        return flags


def _kubernetes(name: str) -> Program:
    variable = "k8s.io/component-base/version.gitVersion"
    return Program(name, "kubernetes", "k8s.io/kubernetes", f"/cmd/{name}", variable)


ETCD = Program("etcd", "etcd", "go.etcd.io/etcd/server/v3")
KUBE_APISERVER = _kubernetes("kube-apiserver")
KUBE_CONTROLLER_MANAGER = _kubernetes("kube-controller-manager")
KUBE_SCHEDULER = _kubernetes("kube-scheduler")
KUBELET = _kubernetes("kubelet")
KUBE_PROXY = _kubernetes("kube-proxy")
KUBECTL = _kubernetes("kubectl")
HELM = Program("helm", "helm", "helm.sh/helm/v3", "/cmd/helm", "helm.sh/helm/v3/internal/version.version")
VERSITYGW = Program("versitygw", "versitygw", "github.com/versity/versitygw", "/cmd/versitygw", "main.Version")
REGISTRY = Program("registry", "registry", "github.com/distribution/distribution/v3", "/cmd/registry")
_UNITTEST = "github.com/helm-unittest/helm-unittest"
HELM_UNITTEST = Program("helm-unittest", "helm-unittest", _UNITTEST, "/cmd/helm-unittest")
HELM_DOCS = Program("helm-docs", "helm-docs", "github.com/norwoodj/helm-docs", "/cmd/helm-docs", "main.version")

NODE = {
    program.name: program
    for program in (
        ETCD,
        KUBE_APISERVER,
        KUBECTL,
        KUBE_CONTROLLER_MANAGER,
        KUBE_SCHEDULER,
        KUBELET,
        KUBE_PROXY,
        VERSITYGW,
        REGISTRY,
        HELM,
    )
}
"""What runs on the node, and what works with it."""
PROGRAMS = NODE | {program.name: program for program in (HELM_UNITTEST, HELM_DOCS)}


def build(names: Iterable[str] = ()) -> list[Path]:
    """Returns the paths of the named programs (the node's without a name), each built if the cache lacks it."""
    return [PROGRAMS[name].path for name in (tuple(names) or NODE)]
