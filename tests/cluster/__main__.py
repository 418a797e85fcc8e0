"""The command line of the cluster: `python -m tests.cluster --help`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from tests.cluster import programs
from tests.cluster.hdfs import on_node
from tests.cluster.images.deliver import prepare_contexts
from tests.cluster.images.wheels import pyspark
from tests.cluster.node import Cluster
from tests.cluster.packages import MachineError


def _binaries(_: Cluster, options: argparse.Namespace) -> int:
    for path in programs.build(options.name):
        print(path)
    return 0


def _node(cluster: Cluster, _: argparse.Namespace) -> int:
    cluster.up()
    return 0


def _images(cluster: Cluster, _: argparse.Namespace) -> int:
    print(json.dumps(cluster.load_images(), indent=1))
    return 0


def _up(cluster: Cluster, options: argparse.Namespace) -> int:
    cluster.up_with_images(newest_only=options.engines == "newest")
    print(f"source {cluster.layout.env_file}")
    return 0


def _down(cluster: Cluster, options: argparse.Namespace) -> int:
    cluster.down(purge=options.purge)
    return 0


def _context(_: Cluster, __: argparse.Namespace) -> int:
    for path in prepare_contexts():
        print(path)
    return 0


def _pyspark(_: Cluster, __: argparse.Namespace) -> int:
    print(pyspark())
    return 0


def _hdfs(cluster: Cluster, options: argparse.Namespace) -> int:
    kind = on_node.KERBEROS if options.kerberos else on_node.SIMPLE
    print(on_node.start(cluster.layout, kind).uri)
    return 0


def _env(cluster: Cluster, _: argparse.Namespace) -> int:
    print(cluster.layout.env_file)
    return 0


def _status(cluster: Cluster, _: argparse.Namespace) -> int:
    ready, missing = cluster.is_ready(), cluster.missing()
    print(f"cluster {cluster.layout.name}: {'Ready' if ready else 'not ready'}")
    if missing:
        print(f"not running: {', '.join(missing)}")
    return 0 if ready else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, action: Callable[[Cluster, argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text)
        added.set_defaults(action=action)
        return added

    up = command("up", _up, "start this checkout's node with its S3 server, and bring the images onto it")
    up.add_argument("--engines", choices=("newest", "all"), default="all", help="whose Spark images the node gets")
    command("node", _node, "the same without the images")
    command("images", _images, "build the images that changed and bring them onto the running node")
    down = command("down", _down, "stop everything; objects and S3 data go, images stay for the next time")
    down.add_argument("--purge", action="store_true", help="remove the images and logs as well")
    command("status", _status, "say what runs; exit code 1 unless the node is Ready")
    hdfs = command("hdfs", _hdfs, "start a NameNode and a DataNode on the running node, and print their URI")
    hdfs.add_argument("--kerberos", action="store_true", help="one that wants tickets, with its KDC")
    command("env", _env, "print the path of the env file")
    command("context", _context, "fill build/image-context, for a `docker build` of your own")
    command("pyspark", _pyspark, "build the wheel of pyspark into the cache and print its path")
    binaries = command("binaries", _binaries, "build the Go programs into the cache (all, or the named ones)")
    binaries.add_argument("name", nargs="*", metavar="NAME", help=", ".join(programs.PROGRAMS))
    return parser


def main() -> int:
    options = _parser().parse_args()
    try:
        return int(options.action(Cluster(), options))
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
