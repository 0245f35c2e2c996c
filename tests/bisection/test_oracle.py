"""The same fault gives the same failure, however many ranks there are and however they are started."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnostics.bisection.case import Case, Settings, Source
from diagnostics.bisection.one_run import Surroundings
from diagnostics.bisection.oracle import Tries
from diagnostics.bisection.trial import Kind, Trial
from diagnostics.bisection.tries_file import TriesFile
from diagnostics.machine.contract import Machine
from diagnostics.machine.this import this_machine

MODELS = Path(__file__).parent / "models"
ONE = Settings(steps=2)
TWO = Settings(world=2, wrapper="ddp", steps=2)
PROGRAMS = Settings(world=2, wrapper="ddp", steps=2, env=(("UPS_TEST_SWITCH", "1"),))


class Silent:
    """A progress that keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int | None]] = []
        self.lines: list[str] = []

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None:
        self.told.append((what, number, most))

    def tried(self, what: str, trial: Trial) -> None:
        pass

    def doing(self, what: str) -> None:
        pass

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with this_machine() as found:
        found.ranks.warm(for_modules=True)
        yield found


@pytest.fixture
def oracle(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tries:
    monkeypatch.chdir(tmp_path)
    around = Surroundings(python=sys.executable, environ=machine.environ)
    return Tries(machine.ranks, around, tmp_path, TriesFile(tmp_path / "tries.jsonl", {}), Silent())


def case(name: str, settings: Settings) -> Case:
    file = MODELS / "failing.py"
    return Case(source=Source(factory=f"{file}:{name}", inputs=f"{file}:batch"), settings=settings)


@pytest.mark.parametrize("settings", [ONE, TWO], ids=["1 rank", "2 ranks"])
def test_a_healthy_model_passes(oracle: Tries, settings: Settings) -> None:
    assert oracle.ask(case("Net", settings), "as it is").passed


def test_a_segmentation_fault_is_the_same_with_one_rank_and_two_and_in_programs(oracle: Tries) -> None:
    trials = [oracle.ask(case("segfault", settings), "x") for settings in (ONE, TWO, PROGRAMS)]
    first = trials[0].failure
    assert first is not None
    assert (first.kind, first.detail, first.phase, first.step) == (Kind.SIGNAL, "SIGSEGV", "forward", 1)
    assert (first.module, first.module_class) == ("blocks.2", "Block")
    assert [place.rpartition("/")[2] for place in first.places] == ["failing.py:18 forward"]
    assert all(trial.shows(first) for trial in trials)
