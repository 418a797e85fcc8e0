"""The single-node Kubernetes cluster of this checkout: up, down, and the outages that tests ask for."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from tests.cluster import cgroups, cleanup, environment, network, packages, programs, s3
from tests.cluster.cache import locked
from tests.cluster.images.deliver import build_all, deliver_all, deliver_pause
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.layout import Layout
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.progress import CommandFailedError
from tests.cluster.services import CLIENTS, CONTAINERD, SERVERS, SERVICES, authority, kubectl
from tests.support import lake_reader


class Cluster:
    """The cluster of one checkout. `up` and `down` take a lock, so that two of them never interleave."""

    def __init__(self, layout: Layout | None = None) -> None:
        self.layout = layout or Layout()
        self._opened: int | None = None
        """The pid of a containerd that this object started and nothing else runs beside."""

    def up_with_images(self, *, newest_only: bool = False) -> dict[str, Any]:
        """Makes what the cache lacks and starts the cluster. Returns the references of the images on the node.

        Programs, images and the independent reader are made side by side. containerd is a package of the machine, so
        it takes the images while programs are still built. With `newest_only`: the images of the newest engine and of
        those that the node has.
        """
        packages.require_root()
        packages.install(packages.NODE | packages.IMAGES)
        with self._closed_on_failure(), ThreadPoolExecutor() as pool:
            images = pool.submit(self._take_images, newest_only=newest_only)
            tasks: list[Future[Any]] = [images, pool.submit(programs.build), pool.submit(lake_reader.prepare)]
            for task in as_completed(tasks):
                task.result()
            self.up()
        return images.result()

    def up(self) -> None:
        """Starts the cluster, or returns at once when it runs; remains of a crash are removed first."""
        packages.require_root()
        packages.install(packages.NODE)
        programs.build()
        with locked(self.layout.name):
            if not self.is_ready():
                self._open()
                self._start()
                deliver_pause(self.layout)

    def load_images(self) -> dict[str, Any]:
        """Builds the images that changed, brings them onto the running node and returns their references."""
        packages.require_root()
        packages.install(packages.IMAGES)
        return deliver_all(self.layout, build_all(self.layout))

    def down(self, *, purge: bool = False) -> None:
        """Stops everything; removes processes, mounts, interfaces, the namespace, objects and S3 data.

        Images stay for the next `up`; with `purge` they go as well.
        """
        packages.require_root()
        with locked(self.layout.name):
            cleanup.clean(self.layout)
            if purge and self.layout.state.exists():
                shutil.rmtree(self.layout.state)

    def is_ready(self) -> bool:
        """Returns whether every process runs and the API server calls the node Ready."""
        return not self.missing() and self._node_is_ready()

    def missing(self) -> list[str]:
        """Returns the names of the processes that do not run."""
        return [name for name in SERVICES if self.layout.daemon(name).pid() is None]

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Runs kubectl as admin from the host and returns what it printed; raises CommandFailedError."""
        return kubectl(self.layout, *arguments, stdin=stdin)

    def variables(self) -> dict[str, str]:
        """Returns what the env file sets; raises FileNotFoundError before the first `up`."""
        return environment.variables(self.layout)

    def stop_service(self, name: str) -> None:
        """An outage: stops `versitygw`, `kube-apiserver`, `kubelet`, ... until `start_service`. Data stays."""
        SERVICES[name].stop(self.layout)

    def start_service(self, name: str) -> None:
        """Starts a stopped service again and waits until it is ready."""
        SERVICES[name].start(self.layout)
        SERVICES[name].wait(self.layout)

    def restart_kubelet(self) -> None:
        """Kills kubelet and starts it again; the pods go on meanwhile."""
        self.layout.daemon("kubelet").stop(signal.SIGKILL)
        self.start_service("kubelet")

    def _take_images(self, *, newest_only: bool) -> dict[str, Any]:
        """Builds the images and brings them into the containerd of the cluster, which may not run otherwise."""
        recipes = build_all(self.layout, newest_only=newest_only)
        with locked(self.layout.name):
            if not self.is_ready():
                self._open()
            return deliver_all(self.layout, recipes)

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        """Removes a cluster that was opened in the block when the block fails."""
        try:
            yield
        except BaseException:
            if self._opened is not None:
                self.down()
            raise

    def _open(self) -> None:
        """Removes remains, makes the namespace and starts containerd. Does nothing if this object just did so."""
        if self._opened is not None and self._opened == self._containerd.pid():
            return
        cleanup.clean(self.layout)
        shutil.rmtree(self.layout.state / "log", ignore_errors=True)
        for directory in (self.layout.state / "log", self.layout.run, self.layout.kubelet):
            directory.mkdir(parents=True)
        cgroups.create(self.layout.name)
        network.create(self.layout.name)
        CONTAINERD.start(self.layout)
        self._opened = self._containerd.pid()
        CONTAINERD.wait(self.layout)

    @property
    def _containerd(self) -> Daemon:
        return self.layout.daemon(CONTAINERD.name)

    def _start(self) -> None:
        """Starts the servers of an open cluster, then their clients, and waits for the node."""
        started, self._opened = time.monotonic(), None
        self._write_kubeconfig()
        for service in SERVERS:
            service.start(self.layout)
        for service in SERVERS:
            service.wait(self.layout)
        self._say("servers are ready", started)
        for service in CLIENTS:
            service.start(self.layout)
        s3.create_buckets(f"http://127.0.0.1:{self.layout.ports()['s3']}", s3.keys(self.layout))
        self._wait_for_node()
        environment.write(self.layout)
        self._say("node is Ready", started)

    def _write_kubeconfig(self) -> None:
        server = f"https://127.0.0.1:{self.layout.choose_ports()['api']}"
        signer = authority(self.layout)
        admin = signer.issue("admin", user="admin", groups=("system:masters",))
        write_kubeconfig(self.layout.kubeconfig, server=server, authority=signer.certificate, user=admin)

    def _wait_for_node(self, *, timeout: float = 300.0) -> None:
        def ready() -> bool:
            for service in CLIENTS:
                self.layout.daemon(service.name).check_alive()
            return self._node_is_ready() and self._has_default_account()

        if not wait_until(ready, timeout=timeout, interval=0.2):
            log = self.layout.daemon("kubelet").log_tail()
            raise TimeoutError(f"the node is not Ready after {timeout:.0f} s. kubelet's log ends:\n{log}")

    def _node_is_ready(self) -> bool:
        path = '{.status.conditions[?(@.type=="Ready")].status}'
        try:
            return self.kubectl("get", "node", self.layout.name, "-o", f"jsonpath={path}") == "True"
        except CommandFailedError:
            return False  # no server or no node yet: not ready either way

    def _has_default_account(self) -> bool:
        """A namespace's account appears a moment after it, and no pod can be made before."""
        return "default" in self.kubectl("get", "serviceaccounts", "--namespace=default", "-o", "name")

    def _say(self, what: str, started: float) -> None:
        print(f"cluster {self.layout.name}: {what} after {time.monotonic() - started:.1f} s", flush=True)
