"""The same fault gives the same failure, however many ranks there are and however they are started."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.trial import OutOfTries, Trial
from diagnostics.bisection.tries.one_run import RunEnvironment
from diagnostics.bisection.tries.oracle import Tries
from diagnostics.bisection.tries.tries_file import TriesFile
from diagnostics.machine.contract import Machine
from diagnostics.machine.this import this_machine

FAILING = Path(__file__).parents[1] / "models" / "failing.py"
ONE = RunSettings()
TWO = RunSettings(world=2)
DDP = RunSettings(world=2, wrapper="ddp")
PROGRAMS = RunSettings(world=2, wrapper="ddp", env=(("UPS_TEST_SWITCH", "1"),))


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


Open = Callable[..., Tries]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with pytest.MonkeyPatch.context() as patch, this_machine() as found:
        patch.chdir(tmp_path_factory.mktemp("job"))  # the ranks run where the warm child was started
        found.ranks.warm(for_modules=True)
        yield found


@pytest.fixture
def open_tries(machine: Machine, tmp_path: Path) -> Open:
    around = RunEnvironment(python=sys.executable, environ=machine.environ)

    def opened(**options: object) -> Tries:
        file = TriesFile(tmp_path / "tries.jsonl", {})
        return Tries(machine.ranks, around, tmp_path, file, Silent(), **options)  # type: ignore[arg-type]

    return opened


def case(name: str, settings: RunSettings = ONE) -> Configuration:
    return Configuration(source=Source(factory=f"{FAILING}:{name}", inputs=f"{FAILING}:batch"), settings=settings)


def told(trial: Trial) -> tuple[str, str, str, list[str], str, str | None, tuple[int, ...]]:
    one = trial.failure
    assert one is not None
    places = [re.sub(r"[^ ]*/models/|:\d+", "", place) for place in one.places]
    return one.kind.value, one.detail, one.message, places, one.phase, one.module, one.ranks


@pytest.mark.parametrize("settings", [ONE, DDP], ids=["1 rank", "2 ranks"])
def test_a_healthy_model_passes(open_tries: Open, settings: RunSettings) -> None:
    assert open_tries().ask(case("Net", settings), "as it is").passed


def test_a_segmentation_fault_is_the_same_with_one_rank_and_two_and_in_programs(open_tries: Open) -> None:
    oracle = open_tries()
    first, *others = [oracle.ask(case("segfault", settings), "x") for settings in (ONE, DDP, PROGRAMS)]
    assert told(first) == ("signal", "SIGSEGV", "", ["failing.py forward"], "forward", "blocks.2", (0,))
    assert [one.failure is not None and one.failure.same_as(first.failure) for one in others] == [True, True]


def test_a_segmentation_fault_stays_the_same_while_others_are_stand_ins_and_alone_and_goes_with_its_module(
    open_tries: Open,
) -> None:
    oracle = open_tries()
    whole = case("segfault")
    first = oracle.ask(whole, "as it is").failure
    assert first is not None
    others = oracle.ask(whole.without("blocks.0", "blocks.1", "blocks.3"), "only blocks.2")
    alone = oracle.ask(whole.edit(alone="blocks.2"), "blocks.2 alone")
    assert [others.shows(first), alone.shows(first)] == [True, True]
    assert oracle.ask(whole.without("blocks.2"), "without blocks.2").passed


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("constructor", ONE, ("signal", "SIGSEGV", "", ["failing.py __init__"], "construct", "blocks.2", (0,))),
        ("floating_point", ONE, ("signal", "SIGFPE", "", ["failing.py forward"], "forward", "blocks.2", (0,))),
        ("killed", ONE, ("signal", "SIGKILL", "", ["failing.py forward"], "forward", "blocks.2", (0,))),
        ("leaves", ONE, ("exit", "exit code 0", "", ["failing.py forward"], "forward", "blocks.2", (0,))),
        ("not_a_number", ONE, ("nonfinite", "loss", "", [], "loss", "blocks.2", (0,))),
        ("drifts_apart", DDP, ("ranks-disagree", "parameters", "", [], "optimizer", None, (0, 1))),
        (
            "wrong_size",
            ONE,
            (
                "exception",
                "RuntimeError",
                "mat1 and mat2 shapes cannot be multiplied (# and #)",
                ["torch/nn/modules/linear.py forward < failing.py forward"],
                "forward",
                "blocks.2.linear",
                (0,),
            ),
        ),
        (
            "raises_on_one_rank",
            TWO,
            ("exception", "ValueError", "bad input of process #", ["failing.py forward"], "forward", "blocks.2", (1,)),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_way_to_fail_is_told_apart(
    open_tries: Open, name: str, settings: RunSettings, expected: tuple[object, ...]
) -> None:
    assert told(open_tries().ask(case(name, settings), "x")) == expected


@pytest.mark.parametrize(
    ("name", "settings", "place", "ranks"),
    [("waits", ONE, "failing.py forward", (0,)), ("calls_on_one_rank", TWO, "failing.py forward", (1,))],
    ids=["in its own code", "in a collective that the other rank does not call"],
)
def test_a_rank_that_keeps_the_others_waiting_is_a_hang_at_its_line(
    open_tries: Open, name: str, settings: RunSettings, place: str, ranks: tuple[int, ...]
) -> None:
    trial = open_tries(deadline_s=5.0).ask(case(name, settings), "x")
    assert told(trial) == ("hang", "", "", [place], "forward", "blocks.2", ranks)


def test_a_rank_over_its_memory_limit_is_told_and_within_it_passes(open_tries: Open) -> None:
    oracle = open_tries(memory_bytes=1 << 30)
    assert told(oracle.ask(case("takes_memory"), "x"))[:4] == ("memory", "", "", ["failing.py forward"])
    assert oracle.ask(case("Net"), "x").passed


def test_a_flaky_failure_has_how_often_it_came(open_tries: Open) -> None:
    oracle = open_tries(repeat=4)
    trial = oracle.ask(case("every_other_time"), "x")
    assert (trial.runs, trial.failed, trial.passed) == (4, 2, False)
    oracle.sought = trial.failure
    again = oracle.ask(case("every_other_time").set(steps=2), "x")
    assert (again.runs, again.failed) == (1, 1)


def test_a_case_is_tried_once_also_by_the_next_run(open_tries: Open) -> None:
    first = open_tries()
    asked = [(case("Net"), "as it is"), (case("segfault"), "with the fault"), (case("Net"), "again")]
    trials = first.ask_all(asked)
    assert (first.tries, [trial.passed for trial in trials]) == (2, [True, False, True])
    again = open_tries()
    assert (again.ask_all(asked), again.tries) == (trials, 0)


def test_no_more_cases_are_tried_than_allowed_and_what_was_tried_is_kept(open_tries: Open) -> None:
    oracle = open_tries(max_tries=1)
    with pytest.raises(OutOfTries, match="1 cases were tried, as many as were allowed"):
        oracle.ask_all([(case("Net"), "one"), (case("Net").set(steps=2), "two")])
    assert oracle.ask(case("Net"), "one").passed


def test_a_factory_that_is_not_there_is_a_refusal(open_tries: Open) -> None:
    trial = open_tries().ask(Configuration(source=Source(factory=f"{FAILING.parent}/none.py:Net")), "x")
    assert (trial.failure, trial.passed) == (None, False)
    assert trial.refusal.endswith(f"no such file: {FAILING.parent}/none.py")


@pytest.mark.slow
def test_tries_run_side_by_side_and_give_what_they_give_one_by_one(open_tries: Open) -> None:
    asked = [(case(name).set(steps=steps), name) for name in ("Net", "segfault", "wrong_size") for steps in (1, 2)]
    oracle = open_tries(jobs=2)
    together = oracle.ask_all(asked)
    oracle.close()
    assert [trial.passed for trial in together] == [True, True, False, False, False, False]
    assert [trial.case for trial in together] == [one for one, _ in asked]
