"""The command line of the cluster: `python -m tests.cluster --help`."""

from __future__ import annotations

import argparse
import sys

from tests.cluster import programs
from tests.cluster.node import Cluster
from tests.cluster.packages import MachineError


def main() -> int:
    options = _parser().parse_args()
    try:
        return _run(options)
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    binaries = commands.add_parser("binaries", help="build the Go programs into the cache (all, or the named ones)")
    binaries.add_argument("name", nargs="*", metavar="NAME", help=", ".join(programs.PROGRAMS))
    commands.add_parser("up", help="start this checkout's node, or check that it runs")
    down = commands.add_parser("down", help="stop it; objects and S3 data go, images stay")
    down.add_argument("--purge", action="store_true", help="remove the images as well")
    commands.add_parser("status", help="say what runs; exit code 1 unless the node is Ready")
    commands.add_parser("env", help="print the path of the env file")
    return parser


def _run(options: argparse.Namespace) -> int:
    cluster = Cluster()
    match options.command:
        case "binaries":
            for path in programs.build(options.name):
                print(path)
        case "up":
            cluster.up()
            print(f"source {cluster.layout.env_file}")
        case "down":
            cluster.down(purge=options.purge)
        case "env":
            print(cluster.layout.env_file)
        case "status":
            return _status(cluster)
    return 0


def _status(cluster: Cluster) -> int:
    missing = cluster.missing()
    ready = cluster.is_ready()
    print(f"cluster {cluster.layout.name}: {'Ready' if ready else 'not ready'}")
    if missing:
        print(f"not running: {', '.join(missing)}")
    return 0 if ready else 1


if __name__ == "__main__":
    sys.exit(main())
