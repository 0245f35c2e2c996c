from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeRanks, fake_machine
from simulated_model import CRASH, Rule, Simulated, needs, random_nodes

from diagnostics.bisection.case import Configuration, Source
from diagnostics.bisection.engine import BisectionInterrupted, bisect
from diagnostics.bisection.found import Bisection, SettingStatus
from diagnostics.bisection.trial import Failure, Trial
from diagnostics.bisection.wanted import BisectionRequest
from diagnostics.core.errors import UsageError
from diagnostics.report.run_report import RunReport

NODES = random_nodes(3, 12)
CULPRIT = NODES[-1].path


class Counted(Simulated):
    """As the real one: it is told what is looked for, and how many tries there may be."""

    sought: Failure | None = None

    def expect(self, more: int) -> None:
        """Counts by itself."""

    def recording(self, case: Configuration) -> Path | None:
        return None


class Stopped(Counted):
    """Ctrl-C comes in the try of this number."""

    stop_at = 4

    def run(self, case: Configuration) -> Trial:
        if self.tries >= self.stop_at:
            raise KeyboardInterrupt
        return super().run(case)


class Refused(Counted):
    def run(self, case: Configuration) -> Trial:
        return Trial(case=case, refusal="model: no module named 'model'", hint="look for it")


class Faulty(Counted):
    """A fault of ours shows in the cases that replace modules."""

    def run(self, case: Configuration) -> Trial:
        if case.edits.stand_ins or case.edits.alone is not None:
            raise ZeroDivisionError("a fault of ours")
        return super().run(case)


class Quiet:
    def __init__(self) -> None:
        self.said: list[str] = []

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None: ...

    def tried(self, what: str, trial: Trial) -> None: ...

    def doing(self, what: str) -> None: ...

    def say(self, line: str) -> None:
        self.said.append(line)


def bisected(
    folder: Path, rule: Rule, kind: type[Counted] = Counted, most: int | None = None
) -> tuple[Bisection, RunReport]:
    wanted = BisectionRequest(
        name="model.make",
        sources=(Source(factory="model.py:make"),),
        python="python",
        folder=folder,
        max_tries=most,
        watch=False,
        command="ups-doctor bisect-model model.py:make",
        resume="ups-doctor bisect-model model.py:make --resume",
    )
    return bisect(wanted, kind(NODES, rule, most=most), fake_machine(ranks=FakeRanks()), Quiet())


def only_on_two_ranks(rule: Rule) -> Rule:
    return lambda run: rule(run) if run.settings.world > 1 else None


def names(found: Bisection, standing: SettingStatus) -> Sequence[str]:
    return [row.axis for row in found.axes if row.standing is standing]


def test_module_settings_and_ways_are_found_in_one_go(tmp_path: Path) -> None:
    found, report = bisected(tmp_path, only_on_two_ranks(needs(CULPRIT)))
    assert (found.module, report.module, found.exit_code, report.exit_code) == (CULPRIT, CULPRIT, 1, 1)
    assert names(found, SettingStatus.NEEDED) == ["world size"]
    assert {row.way: row.result for row in found.strategies}["ddp"] == "fails"
    wrappers = [case.settings.wrapper for case in (found.failing, found.minimal) if case is not None]
    assert wrappers == ["ddp", "none"]


def test_a_model_that_passes_is_said_to_pass(tmp_path: Path) -> None:
    found, report = bisected(tmp_path, lambda run: None)
    assert (found.failure, found.exit_code, report.outcome.value, report.module) == (None, 0, "ok", None)
    assert len(found.attempts) == 7


def test_a_refusal_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no module named") as refused:
        bisected(tmp_path, needs(CULPRIT), Refused)
    assert refused.value.hint == "look for it"


def test_when_the_tries_run_out_what_is_known_is_told(tmp_path: Path) -> None:
    found, report = bisected(tmp_path, only_on_two_ranks(needs(CULPRIT)), most=3)
    assert (found.exit_code, report.exit_code) == (3, 3)
    assert found.undecided
    assert found.failure == replace(CRASH)


def test_when_the_tries_run_out_before_a_failing_case_is_found_it_is_undecided(tmp_path: Path) -> None:
    found, report = bisected(tmp_path, lambda run: None, most=1)
    assert (found.exit_code, report.exit_code, len(found.attempts)) == (3, 3, 1)
    assert found.undecided == "the search for a failing case was cut short by --max-tries 1"


def test_a_fault_of_ours_costs_one_part(tmp_path: Path) -> None:
    found, _ = bisected(tmp_path, needs(CULPRIT), Faulty)
    assert found.exit_code == 3
    assert found.undecided == (
        "the search for the module came to nothing: ZeroDivisionError: a fault of ours (doctor-error.txt)"
    )
    assert [bool(found.axes), bool(found.strategies)] == [True, True]
    assert "ZeroDivisionError" in (tmp_path / "doctor-error.txt").read_text()


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(BisectionInterrupted) as stopped:
        bisected(tmp_path, needs(CULPRIT), Stopped)
    found = stopped.value.found
    assert (found.failure, found.exit_code, found.undecided) == (CRASH, 3, "it was interrupted")
    assert stopped.value.report.repeat == "ups-doctor bisect-model model.py:make"
