"""`python -m tools.benchmarks.maintenance_day [--tables N] [--hours N] [--seed N] [--policies P ...] [--record]`.

Plays the day and prints the page. With `--record`, the lines replace those of the same seed and policies in
docs/maintenance-day.jsonl, the figures of the tables on real Spark that are kept in `build/played-day` replace those in
docs/maintenance-day-played.jsonl, and docs/maintenance-day.md is made of all (`--policies` without a name: of those
alone).
Exit code 1 if the operator has more than a tenth of the no-ops of fixed cron, or a table was worse than its threshold
and one interval.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tools.benchmarks.maintenance_day.checkout import LINES, PAGE, PLAYED, stamp_of_checkout
from tools.benchmarks.maintenance_day.figures import CRON, OPERATOR, POLICIES, Figures, avoided_percent, figures_of
from tools.benchmarks.maintenance_day.page import Line, page
from tools.benchmarks.maintenance_day.played import kept

LEAST_AVOIDED: Final = 90.0
"""Percent of the no-ops of fixed cron."""


def main() -> int:
    """Plays the policies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", nargs="*", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    stamp = stamp_of_checkout()
    found = {policy: figures_of(policy, asked.tables, asked.seed, asked.hours) for policy in asked.policies}
    lines = [stamp | asdict(each) for each in found.values()]
    if asked.record:
        lines = _with_recorded(lines)
        _write(LINES, lines)
        if played := kept():
            _write(PLAYED, [asdict(each) for each in played])
        PAGE.write_text(page(lines, read(PLAYED)))
    wrong = list(_problems(found))
    print("\n".join([page(lines), *wrong]))
    return 1 if wrong else 0


def read(file: Path) -> list[Line]:
    """The recorded lines."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _write(file: Path, lines: list[Line]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _with_recorded(lines: list[Line]) -> list[Line]:
    """The lines with those of other seeds and policies that are recorded, in order."""
    by_key = {(line["seed"], line["policy"]): line for line in [*read(LINES), *lines]}
    order = list(POLICIES)
    return [by_key[key] for key in sorted(by_key, key=lambda key: (key[0], order.index(key[1])))]


def _problems(found: Mapping[str, Figures]) -> Iterator[str]:
    """What the operator does not keep, as far as it and fixed cron were played."""
    operator, cron = found.get(OPERATOR), found.get(CRON)
    if operator is None:
        return
    avoided = LEAST_AVOIDED if cron is None else avoided_percent(operator.total, cron.total)
    if avoided < LEAST_AVOIDED:
        yield f"seed {operator.seed}: {avoided} % of the no-ops of fixed cron are avoided, not {LEAST_AVOIDED} %"
    for name, count in operator.beyond.items():
        yield f"seed {operator.seed}: table {name} was worse than its threshold and one interval, by {count}"


if __name__ == "__main__":
    sys.exit(main())
