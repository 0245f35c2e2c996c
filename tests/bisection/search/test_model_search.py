from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_model import CRASH, OTHER, Run, Simulated, job_from_record, needs, random_nodes

from diagnostics.bisection.found import Mark
from diagnostics.bisection.search.model_search import search_model
from diagnostics.bisection.search.module_found import FailureRelation, ModuleFound
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial

# no deadline: other work on the machine is no fault of the search
some = settings(max_examples=40, deadline=None)
SEEDS = st.integers(0, 10**9)
SIZES = st.integers(2, 60)


def searched(oracle: Simulated, hint: str | None = None) -> ModuleFound:
    failing = oracle.ask(job_from_record(), "as asked")
    assert failing.failure is not None
    return search_model(oracle, replace(failing, failure=replace(failing.failure, module=hint)))


def pick(nodes: list[ModuleNode], seed: int, number: int = 1) -> list[str]:
    places = [(seed * 7919 + 104729 * one) % len(nodes) for one in range(number)]
    return [nodes[place].path for place in places]


@some
@given(SEEDS, SIZES, st.booleans())
def test_the_one_module_whose_own_code_fails_is_named(seed: int, size: int, hinted: bool) -> None:
    nodes = random_nodes(seed, size)
    (culprit,) = pick(nodes, seed)
    oracle = Simulated(nodes, needs(culprit))
    found = searched(oracle, culprit if hinted else None)
    assert (found.modules, found.heals, found.fails_alone) == ((culprit,), True, True)
    assert found.minimal.shows(CRASH)
    assert [row.path for row in found.tree if row.mark is Mark.CULPRIT] == [culprit]
    assert found.undecided == found.outside == ""


@some
@given(SEEDS, SIZES, SEEDS)
def test_a_wrong_hint_costs_tries_and_misleads_nobody(seed: int, size: int, other: int) -> None:
    nodes = random_nodes(seed, size)
    (culprit,) = pick(nodes, seed)
    found = searched(Simulated(nodes, needs(culprit)), nodes[other % size].path)
    assert found.modules == (culprit,)


@pytest.mark.parametrize("hinted", [True, False])
@pytest.mark.parametrize("size", [10, 50, 200])
def test_the_median_of_tries_stays_below_twice_the_logarithm(size: int, hinted: bool) -> None:
    tries = []
    for seed in range(40):
        nodes = random_nodes(seed, size)
        (culprit,) = pick(nodes, seed)
        oracle = Simulated(nodes, needs(culprit))
        searched(oracle, culprit if hinted else None)
        tries.append(oracle.tries - 1)  # the failing case itself was known
    assert statistics.median(tries) <= (4 if hinted else 2 * math.log2(size))
    assert max(tries) <= 2 * math.log2(size) + 5


@some
@given(SEEDS, st.integers(4, 60))
def test_two_modules_that_fail_only_together_are_a_set(seed: int, size: int) -> None:
    nodes = random_nodes(seed, size)
    pair = set(pick(nodes, seed, 2))
    found = searched(Simulated(nodes, needs(*pair)))
    tops = {path for path in pair if not any(other != path and holds(path, other) for other in pair)}
    if len(pair) == len(tops) == 2:
        assert (set(found.modules), found.relation) == (pair, FailureRelation.TOGETHER)
    else:  # one holds the other: the one that holds it
        holding = next(path for path in pair if all(holds(path, other) for other in pair))
        assert found.modules == (holding,)
    assert found.minimal.shows(CRASH)


def holds(path: str, other: str) -> bool:
    return path in ("", other) or other.startswith(f"{path}.")


@some
@given(SEEDS, st.integers(4, 60))
def test_a_set_lies_within_the_smallest_module_that_fails_alone(seed: int, size: int) -> None:
    nodes = random_nodes(seed, size)
    pair = set(pick(nodes, seed, 2))
    found = searched(Simulated(nodes, needs(*pair)))
    if found.within is not None:
        assert all(holds(found.within, path) for path in pair)
        assert found.minimal.case.edits.alone == found.within


@some
@given(SEEDS, st.integers(4, 60))
def test_two_modules_that_each_fail_are_both_told(seed: int, size: int) -> None:
    nodes = random_nodes(seed, size)
    one, two = pick(nodes, seed, 2)
    found = searched(Simulated(nodes, lambda run: CRASH if {one, two} & run.intact else None))
    outer = {path for path in (one, two) if not any(other != path and holds(other, path) for other in (one, two))}
    if len(outer) == 2:
        assert (set(found.modules), found.relation) == ({one, two}, FailureRelation.EACH)
    else:
        assert set(found.modules) & {one, two}


def test_a_class_that_fails_wherever_it_is_used_is_told_with_all_its_instances() -> None:
    nodes = blocks(12)
    culprits = {f"blocks.{number}.attn" for number in range(12)}
    oracle = Simulated(nodes, lambda run: CRASH if culprits & run.intact else None)
    found = searched(oracle)
    assert (set(found.modules), found.relation, found.heals) == (culprits, FailureRelation.EACH, True)
    assert oracle.tries < 15


def blocks(count: int) -> list[ModuleNode]:
    nodes = [node("", "Net"), replace(node("blocks", "ModuleList"), container=True, place="")]
    for number in range(count):
        nodes += [node(f"blocks.{number}", "Block"), node(f"blocks.{number}.attn", "Attention")]
        nodes += [node(f"blocks.{number}.mlp", "Mlp")]
    return nodes


def node(path: str, kind: str, **more: object) -> ModuleNode:
    places = {"Net": "model.py:60", "Block": "model.py:40", "Attention": "model.py:20", "Mlp": "model.py:1"}
    return ModuleNode(path=path, class_name=kind, place=places.get(kind, ""), calls=1, entered=1, **more)  # type: ignore[arg-type]


def test_of_a_set_the_module_that_was_open_counts_where_it_cannot_be_replaced() -> None:
    reading = ("", "blocks", "blocks.2", "blocks.2.attn")
    nodes = [replace(one, replaceable=one.path not in reading) for one in blocks(4)]
    found = searched(Simulated(nodes, needs("blocks.0.attn", "blocks.2.attn")), "blocks.2.attn")
    assert (found.modules, found.relation) == (("blocks.0.attn", "blocks.2.attn"), FailureRelation.TOGETHER)
    assert (found.heals, found.fails_alone) == (True, True)


def test_code_that_spoils_what_a_child_kept_is_the_code_of_the_parent() -> None:
    # the child alone passes, and with a stand-in for the child the parent passes
    found = searched(Simulated(blocks(6), needs("blocks.3", "blocks.3.attn")))
    assert (found.modules, found.heals, found.fails_alone) == (("blocks.3",), True, True)
    assert found.notes == (
        "blocks.3.attn is needed in it: with a stand-in for it the model passes, and alone it passes, too",
    )


def test_the_models_own_code_that_spoils_what_a_child_kept_is_the_model_itself() -> None:
    found = searched(Simulated(blocks(6), needs("", "blocks.3.attn")))
    assert (found.modules, found.class_name) == (("",), "Net")


def test_a_module_that_was_open_stays_named_where_it_fails_within_the_model_only() -> None:
    found = searched(Simulated(blocks(6), needs("", "blocks.3.attn")), "blocks.3.attn")
    assert (found.modules, found.heals, found.fails_alone) == (("blocks.3.attn",), True, True)
    assert found.evidence[1] == "blocks.3.attn alone passes"


def test_the_models_own_forward_is_told_from_what_is_around_the_model() -> None:
    own = searched(Simulated(blocks(6), needs("")))
    around = searched(Simulated(blocks(6), lambda run: CRASH))
    assert (own.modules, own.outside) == (("",), "")
    assert (around.modules, around.outside) == ((), "it fails in the same way with a stand-in for the whole model")


@pytest.mark.parametrize("phase", ["import", "group", "batch"])
def test_a_failure_before_the_model_runs_names_no_module_and_takes_one_try(phase: str) -> None:
    oracle = Simulated(blocks(6), lambda run: replace(CRASH, phase=phase))
    found = searched(oracle)
    assert (found.modules, found.outside) == ((), f"it fails in phase {phase!r}, before the model runs")
    assert oracle.tries == 2


def test_a_module_that_two_others_hold_is_named_and_not_one_of_these() -> None:
    nodes = [*blocks(4), node("blocks.0.act", "Act", also=tuple(f"blocks.{number}.act" for number in range(1, 4)))]
    for hint in (None, "blocks.0.act"):
        found = searched(Simulated(nodes, needs("blocks.0.act")), hint)
        assert (found.modules, found.heals) == (("blocks.0.act",), True)


def test_a_module_that_cannot_be_replaced_is_found_alone() -> None:
    nodes = [replace(one, replaceable=one.path not in ("", "blocks", "blocks.3", "blocks.3.attn")) for one in blocks(6)]
    for hint in (None, "blocks.3.attn"):
        found = searched(Simulated(nodes, needs("blocks.3.attn")), hint)
        assert (found.modules, found.heals, found.fails_alone) == (("blocks.3.attn",), None, True)


def test_modules_that_the_failing_forward_never_reached_are_left_out() -> None:
    nodes = [
        replace(one, replaceable=False, entered=0, calls=0) if one.path.startswith(("blocks.4", "blocks.5")) else one
        for one in blocks(6)
    ]
    oracle = Simulated(nodes, needs("blocks.3.mlp"))
    assert searched(oracle).modules == ("blocks.3.mlp",)


@some
@given(SEEDS, st.integers(4, 40), st.sets(st.integers(0, 10**6), max_size=4))
def test_stand_ins_that_break_the_model_never_make_it_name_an_innocent_module(
    seed: int, size: int, broken: set[int]
) -> None:
    nodes = random_nodes(seed, size)
    (culprit,) = pick(nodes, seed)
    poison = {nodes[place % size].path for place in broken} - {culprit}
    oracle = Simulated(nodes, needs(culprit), poison=poison)
    found = searched(oracle)
    assert found.modules in ((culprit,), ())
    assert bool(found.modules) != bool(found.undecided)


def test_the_class_whose_line_failed_is_tried_first() -> None:
    failure = replace(CRASH, phase="backward", places=("model.py:25 forward",))
    oracle = Simulated(blocks(30), needs("blocks.17.attn", failure=failure))
    found = searched(oracle)
    assert found.modules == ("blocks.17.attn",)
    assert oracle.tries <= 2 + math.log2(30) + 3


def test_a_module_that_never_calls_what_has_parameters_is_suspected_of_leaving_them_unused() -> None:
    nodes = [
        replace(one, entered=0, calls=0, parameters=9) if one.path == "blocks.7.mlp" else one for one in blocks(20)
    ]
    unused = Failure(
        kind=FailureKind.EXCEPTION, detail="RuntimeError", text="Expected to have finished reduction", phase="forward"
    )
    oracle = Simulated(nodes, needs("blocks.7", failure=unused))
    assert searched(oracle).modules == ("blocks.7",)
    assert oracle.tries <= 5


def test_a_search_without_enough_tries_says_so_and_tells_what_it_knows() -> None:
    oracle = Simulated(blocks(12), needs("blocks.11.attn"), most=3)
    found = searched(oracle)
    assert (found.modules, found.undecided) == ((), "the search for the module ran out of tries")
    assert Mark.PASSES in {row.mark for row in found.tree}


def test_without_any_modules_known_it_is_undecided() -> None:
    found = search_model(Simulated([], needs()), Trial(case=job_from_record(), failure=CRASH))
    assert found.undecided == "no run came far enough to tell which modules the model has"


def test_a_trial_that_does_not_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fail"):
        search_model(Simulated([], needs()), Trial(case=job_from_record()))


def test_evidence_tells_the_tries_that_decided() -> None:
    found = searched(Simulated(blocks(6), needs("blocks.3.attn")), "blocks.3.attn")
    assert found.evidence == (
        "without blocks.3.attn the model passes",
        "blocks.3.attn alone fails in the same way",
    )


def test_another_failure_of_a_stand_in_is_no_proof() -> None:
    def rule(run: Run) -> Failure | None:
        return CRASH if "blocks.3.attn" in run.intact else OTHER

    found = searched(Simulated(blocks(6), rule), "blocks.3.attn")
    assert (found.modules, found.heals, found.fails_alone) == (("blocks.3.attn",), None, True)


def test_how_often_is_told_where_it_does_not_always_fail() -> None:
    class Flaky(Simulated):
        def run(self, case):  # type: ignore[no-untyped-def]
            trial = super().run(case)
            return replace(trial, runs=10, failed=3 if trial.failure is not None else 0)

    found = searched(Flaky(blocks(6), needs("blocks.3.attn")), "blocks.3.attn")
    assert found.evidence == (
        "without blocks.3.attn the model passes, 10 of 10 times",
        "blocks.3.attn alone fails in the same way, 3 of 10 times",
    )
