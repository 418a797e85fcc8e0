"""The command line of the cluster: `python -m tests.cluster --help`."""

from __future__ import annotations

import argparse

from tests.cluster import programs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    binaries = commands.add_parser("binaries", help="build the Go programs into the cache (all, or the named ones)")
    binaries.add_argument("name", nargs="*", choices=[*programs.PROGRAMS, []], metavar="NAME")
    options = parser.parse_args()
    if options.command == "binaries":
        for path in programs.build(options.name):
            print(path)


if __name__ == "__main__":
    main()
