"""`make hardcases`: for each hard case that the repository claims, the tests that carry it and how they ended.

A case is claimed by a line in hard_cases.toml and carried by tests marked `hard_case("ID")`. A claim without a test, a
mark without a claim, or a test that did not pass makes it fail.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

CLAIMED: dict[str, str] = tomllib.loads((Path(__file__).parent / "hard_cases.toml").read_text("utf-8"))


class Carried:
    """Notes, for each case, the outcome of every test that carries it."""

    def __init__(self) -> None:
        self.outcomes: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.cases: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self.cases[item.nodeid] = [mark.args[0] for mark in item.iter_markers("hard_case")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            for case in self.cases.get(report.nodeid, []):
                self.outcomes[case][report.nodeid.partition("[")[0]][report.outcome] += 1

    def print(self) -> bool:
        """The table; whether every claim is carried and every carrier passed."""
        good = True
        for case in sorted({*CLAIMED, *self.outcomes}):
            tests = self.outcomes.get(case, {})
            print(f"\n{case}  {CLAIMED.get(case, 'NOT CLAIMED in hard_cases.toml')}")
            for name, outcomes in tests.items():
                print(f"     {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items()):>12}  {name}")
            if not tests:
                print("     NO TEST")
            passed = all(set(outcomes) <= {"passed"} for outcomes in tests.values())
            good = good and case in CLAIMED and bool(tests) and passed
        return good


def main() -> int:
    carried = Carried()
    status = pytest.main(["-m", "hard_case", "-q", "--no-header", *sys.argv[1:]], plugins=[carried])
    return 0 if carried.print() and status == pytest.ExitCode.OK else 1


if __name__ == "__main__":
    sys.exit(main())
