from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_model import CRASH, job_from_record

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.search.climbing import Climbed, Rung, climb
from diagnostics.bisection.search.shrinking import shrink
from diagnostics.bisection.trial import ModuleNode, OutOfTries, Trial

TREE = (
    ModuleNode(path="", class_name="Net"),
    ModuleNode(path="layers", class_name="ModuleList", parameters=90, container=True),
    *(ModuleNode(path=f"layers.{number}", class_name="Layer", parameters=10) for number in range(9)),
    ModuleNode(path="head", class_name="Sequential", parameters=5, container=True),
    *(ModuleNode(path=f"head.{number}", class_name="Linear", parameters=1) for number in range(4)),
)


class Cutting:
    """An oracle whose failure needs these places of containers and so many items of a batch."""

    def __init__(self, needed: dict[str, set[int]], *, batch: int = 1, most: int = 99) -> None:
        self.needed, self.batch, self.most, self.tries = needed, batch, most, 0

    def ask(self, case: Configuration, why: str) -> Trial:
        if self.tries >= self.most:
            raise OutOfTries
        self.tries += 1
        cuts = dict(case.edits.cuts)
        there = all(places <= set(cuts.get(path, range(9))) for path, places in self.needed.items())
        fails = there and (case.edits.batch is None or case.edits.batch >= self.batch)
        return Trial(case=case, failure=CRASH if fails else None, failed=int(fails))

    def ask_all(self, cases):  # type: ignore[no-untyped-def]
        return [self.ask(case, why) for case, why in cases]


FAILING = Trial(case=job_from_record(), failure=CRASH, failed=1)


def test_containers_keep_what_the_failure_needs_and_the_batch_becomes_one() -> None:
    shrunk = shrink(Cutting({"layers": {6}, "head": {0, 3}}), FAILING, TREE)
    assert shrunk.minimal.case.edits.cuts == (("head", (0, 3)), ("layers", (6,)))
    assert shrunk.minimal.case.edits.batch == 1
    assert shrunk.minimal.shows(CRASH)
    assert shrunk.steps == ("layers: 1 of 9 kept", "head: 2 of 4 kept", "a batch of 1")


def test_of_a_module_alone_only_its_own_containers_are_cut() -> None:
    alone = replace(FAILING, case=FAILING.case.edit(alone="head"))
    shrunk = shrink(Cutting({"head": {1}}, batch=2), alone, TREE)
    assert shrunk.minimal.case.edits.cuts == (("head", (1,)),)
    assert shrunk.steps == ("head: 1 of 4 kept", "a batch of 2")


def test_stand_ins_are_not_cut() -> None:
    replaced = replace(FAILING, case=FAILING.case.without("layers"))
    assert shrink(Cutting({}), replaced, TREE).steps == ("head: 0 of 4 kept", "a batch of 1")


def test_a_failing_construction_is_left_as_it_is() -> None:
    oracle = Cutting({})
    assert shrink(oracle, replace(FAILING, failure=replace(CRASH, phase="construct")), TREE).steps == ()
    assert oracle.tries == 0


def test_no_more_tries_are_taken_than_allowed_and_what_is_smaller_by_then_stays() -> None:
    oracle = Cutting({"layers": {6}})
    shrunk = shrink(oracle, FAILING, TREE, tries=4)
    assert (oracle.tries, shrunk.tries) == (4, 4)
    assert shrunk.minimal.shows(CRASH)


def test_tries_that_run_out_elsewhere_end_it_too() -> None:
    assert shrink(Cutting({"layers": {6}}, most=2), FAILING, TREE).minimal.shows(CRASH)


RUNGS = tuple(Rung(name=f"depth {depth}", overrides=(f"depth={depth}",)) for depth in (1, 2, 4, 8))


class Ladder(Cutting):
    def __init__(self, breaks_at: int, refused: tuple[int, ...] = ()) -> None:
        super().__init__({})
        self.breaks_at, self.refused = breaks_at, refused

    def ask(self, case: Configuration, why: str) -> Trial:
        depth = int(case.edits.overrides[-1].partition("=")[2])
        if depth in self.refused:
            return Trial(case=case, refusal="no such depth")
        fails = depth >= self.breaks_at
        return Trial(case=case, failure=CRASH if fails else None)


@pytest.mark.parametrize(("breaks_at", "first", "last"), [(1, 0, None), (2, 1, 0), (5, 3, 2), (99, None, 3)])
def test_the_first_rung_that_breaks_and_the_last_that_does_not(
    breaks_at: int, first: int | None, last: int | None
) -> None:
    climbed = climb(Ladder(breaks_at), FAILING, RUNGS)
    assert climbed.first_failing == (RUNGS[first] if first is not None else None)
    assert climbed.last_passing == (RUNGS[last] if last is not None else None)
    assert (climbed.trial is None) == (first is None)


def test_a_rung_that_cannot_be_run_is_told() -> None:
    climbed = climb(Ladder(8, refused=(4,)), FAILING, RUNGS)
    assert climbed.first_failing == RUNGS[3]
    assert ("depth 4", "cannot run") in climbed.results


def test_a_ladder_without_rungs_has_no_answer() -> None:
    assert climb(Ladder(1), FAILING, ()) == Climbed(first_failing=None)
