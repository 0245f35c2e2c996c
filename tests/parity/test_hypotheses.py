"""Each hypothesis on the numbers that prove it, and on those that do not."""

from __future__ import annotations

from typing import Any

import pytest
from measurements import measured, of_step, row, same, weights

from diagnostics.core.registry import discover
from diagnostics.parity import hypotheses
from diagnostics.parity.engine import explained
from diagnostics.parity.measured import Measured

SCALED = {"factor": 2.0, "residual": 1e-15, "by_parameter": {"layer.weight": {"factor": 2.0, "residual": 1e-15}}}


def names(found: Measured) -> list[tuple[str, str]]:
    return [(one.name, one.factor) for one in explained(found)]


def scaled(factor: float, **changes: Any) -> dict[str, Any]:
    return of_step(
        factors={**SCALED, "factor": factor},
        ranks=[weights(factor / 2, factor / 2)] * 2,
        applied=[weights(factor / 2, factor / 2)] * 2,
        **changes,
    )


def test_nothing_is_said_of_ranks_that_agree() -> None:
    assert names(measured(of_step(), rows=[same("gradient"), same("loss")])) == []


def test_a_difference_that_no_number_explains_stays_unexplained() -> None:
    strange = of_step(ranks=[weights(0.4, 0.1, residual=0.3)] * 2, applied=[weights(0.4, 0.1, residual=0.3)] * 2)
    assert names(measured(strange)) == []


@pytest.mark.parametrize(
    ("factor", "backwards", "said"),
    [
        (2.0, 1, "2 = number of ranks"),
        (0.5, 1, "0.5 = 1 / number of ranks"),
        (3.0, 3, "3 = number of micro-batches"),
        (1 / 3, 3, "0.333333 = 1 / number of micro-batches"),
        (6.0, 3, "6 = ranks x micro-batches"),
        (2.0, 2, "2 = number of ranks or number of micro-batches"),
        (1.7, 1, "1.7"),
    ],
)
def test_a_factor_is_told_with_what_it_is(factor: float, backwards: int, said: str) -> None:
    assert names(measured(scaled(factor, backwards=backwards))) == [("scaled-gradient", said)]


def test_a_factor_that_does_not_fit_exactly_is_none() -> None:
    nearly = of_step(factors={**SCALED, "residual": 1e-3, "by_parameter": {}})
    assert names(measured(nearly)) == []


def test_one_scaled_parameter_is_named() -> None:
    each = {"layer.weight": {"factor": 2.0, "residual": 0.0}, "head.weight": {"factor": 1.0, "residual": 0.0}}
    found = explained(measured(of_step(factors={"factor": 1.6, "residual": 0.2, "by_parameter": each})))
    assert [one.sentence for one in found] == [
        "the gradient of layer.weight is exactly 2 times that of one process (2 = number of ranks)"
    ]


def test_ranks_that_use_their_own_share_only_are_not_synchronised() -> None:
    local = [weights(1.0, 0.0), weights(0.0, 1.0)]
    (found,) = explained(measured(of_step(ranks=local, applied=local)))
    assert (found.name, found.sentence, found.proof, found.where) == (
        "not-synchronised",
        "each rank steps with its own gradient: nothing is averaged",
        (
            "gradient of rank 0 = 1 x g[0] + 0 x g[1], residual 0",
            "gradient of rank 1 = 0 x g[0] + 1 x g[1], residual 0",
        ),
        "/job/train.py:7",
    )


def test_a_parameter_that_is_not_synchronised_is_named() -> None:
    local, averaged = [weights(1.0, 0.0), weights(0.0, 1.0)], [weights(0.5, 0.5)] * 2
    step = of_step(
        ranks=[weights(0.6, 0.4, residual=0.1)] * 2,
        applied=[weights(0.6, 0.4, residual=0.1)] * 2,
        by_parameter={"head.bias": {"ranks": local}, "layer.weight": {"ranks": averaged}},
    )
    assert [one.sentence for one in explained(measured(step))] == [
        "the gradient of head.bias is not averaged over the ranks; that of 1 other parameters is"
    ]


def test_a_micro_batch_that_is_not_synchronised_is_named() -> None:
    sides = [weights(0.25, 0.5, 0.25, 0.0), weights(0.25, 0.0, 0.25, 0.5)]
    step = of_step(
        backwards=2, shares=[[0, 0], [0, 1], [1, 0], [1, 1]], ranks=sides, applied=sides, one=weights(*[0.25] * 4)
    )
    assert [one.sentence for one in explained(measured(step))] == ["micro-batch 2 of 2 is not averaged over the ranks"]


def test_micro_batches_that_are_missing_are_counted() -> None:
    sides = [weights(0.0, 0.25, 0.0, 0.25)] * 2
    step = of_step(
        backwards=2, shares=[[0, 0], [0, 1], [1, 0], [1, 1]], ranks=sides, applied=sides, one=weights(*[0.25] * 4)
    )
    assert names(measured(step)) == [("lost-micro-batch", "2 of 4")]


def test_a_gradient_that_was_never_set_to_zero_is_told() -> None:
    strange = [weights(0.5, 0.4, residual=0.3)] * 2
    step = of_step(ranks=strange, applied=strange, with_step_before=[weights(0.5, 0.5, 1.0)] * 2)
    assert names(measured(of_step(), step, rows=[row("gradient", step=1)])) == [("stale-gradient", "1")]


@pytest.mark.parametrize(
    ("sizes", "counts", "one", "said"),
    [
        ([4, 3], [{}, {}], (4 / 7, 3 / 7), ("ragged-batch", "4 : 3")),
        ([4, 4], [{"[1] != -100": 4}, {"[1] != -100": 1}], (0.8, 0.2), ("local-count", "4 : 1")),
        ([4, 4], [{}, {}], (0.9, 0.1), ("local-count", "0.9, 0.1")),
    ],
)
def test_the_count_that_the_ranks_should_have_shared_is_found(
    sizes: list[int], counts: list[dict[str, int]], one: tuple[float, float], said: tuple[str, str]
) -> None:
    assert names(measured(of_step(sizes=sizes, counts=counts, one=weights(*one)))) == [said]


def test_statistics_of_shares_are_told_where_dividing_them_gives_what_the_ranks_have() -> None:
    mixed = of_step(one=weights(0.3, 0.4, residual=0.2))
    divided = [{"row": "gradient", "largest": 1e-15, "first": None}]
    assert names(measured(mixed, **{"by-share": divided})) == [("local-batch-statistics", "")]
    still = [{"row": "gradient", "largest": 0.1, "first": {"step": 0}}]
    assert names(measured(mixed, **{"by-share": still})) == [("mixes-samples", "")]


def test_clipping_before_averaging_is_told_from_clipping_otherwise() -> None:
    local, clipped = [weights(1.0, 0.0), weights(0.0, 1.0)], [weights(0.4, 0.3)] * 2
    cut: dict[str, Any] = {"clips": [1, 1], "cut": True, "mean_of_clipped": 1e-15, "ranks": local, "applied": clipped}
    before = of_step(agree_before_clipping=[0.0, 0.5], **cut)
    assert names(measured(before)) == [("clipped-before-averaging", "")]
    otherwise = of_step(clips=[1, 1], apart_before_clipping=[1e-15, 1e-15], applied_factors={"factor": 2.0})
    assert names(measured(otherwise)) == [("clipping-differs", "2 = number of ranks")]


def test_a_clipping_that_cut_nothing_or_met_the_mean_is_not_blamed_for_a_count_of_each_rank() -> None:
    counts: dict[str, Any] = {"counts": [{"batch[1] != -100": 4}, {"batch[1] != -100": 1}], "one": weights(0.8, 0.2)}
    averaged = of_step(clips=[1, 1], cut=True, mean_of_clipped=1e-15, **counts)
    idle = of_step(clips=[1, 1], agree_before_clipping=[0.0, 0.5], mean_of_clipped=1e-15, **counts)
    assert [names(measured(step)) for step in (averaged, idle)] == [[("local-count", "4 : 1")]] * 2


def test_settings_of_optimizers_are_compared() -> None:
    step = of_step(hyper=[[{"lr": 0.2}], [{"lr": 0.2}]])
    assert names(measured(step, rows=[same("gradient"), row("parameters")])) == [
        ("optimizer-settings", "2 = number of ranks")
    ]


def test_a_reference_that_differs_from_itself_is_not_deterministic() -> None:
    (found,) = explained(measured(again=[row("loss", 0.01, step=1)]))
    assert (found.name, found.step) == ("non-deterministic", 1)


def test_different_starts_are_told() -> None:
    start = {"difference": 0.3, "rank": 1, "name": "layer.weight", "values": [0.1, 0.2]}
    (found,) = explained(measured(start=start, rows=[same("gradient")]))
    assert (found.name, found.proof) == (
        "different-start",
        ("before the first step layer.weight is 0.1, 0.2 on ranks 0 and 1",),
    )


def test_the_same_masks_are_a_note_and_no_difference() -> None:
    found = measured(rows=[same("gradient"), row("random numbers", 1.0, name="dropout", rank=1, place=0)])
    (said,) = explained(found)
    assert (said.name, said.note, found.same) == ("same-random-numbers", True, True)


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([[["a", "b"], ["c"]], [["d", "e"], ["a"]]], "1 of 6 samples is there twice in pass 0: a sampler fills up"),
        ([[["a", "b"]], [["a", "b"]]], "all 2 ranks are given the same 2 samples"),
        (
            [[["a", "b", "c", "d"]], [["e", "c", "b", "f"]]],
            "ranks are given 2 samples of each other: each draws from the whole data set",
        ),
    ],
)
def test_samples_that_ranks_have_in_common_are_told(ranks: list[list[list[str]]], said: str) -> None:
    found = measured(rows=[same("gradient")], passes=[{"loader": 0, "pass": 0, "batches": ranks}])
    assert [one.sentence for one in explained(found)] == [said]
    assert not found.same


@pytest.mark.parametrize(
    "ranks",
    [
        [[["a", "b"]], [["c", "d"]]],  # each its own
        [[["a", "a"]], [["a", "b"]]],  # equal samples are many
        [[["a", "b", "c"]], [["d", "b", "e"]]],  # one, by chance
    ],
)
def test_samples_that_may_be_equal_by_chance_are_not_told(ranks: list[list[list[str]]]) -> None:
    assert measured(rows=[same("gradient")], passes=[{"loader": 0, "pass": 0, "batches": ranks}]).same


def test_samples_that_fill_up_with_a_weight_of_0_are_no_difference() -> None:
    passes = [{"loader": 0, "pass": 0, "batches": [[["a", "b"], ["c"]], [["d", "e"], ["a"]]]}]
    assert measured(rows=[same("gradient")], passes=passes, fed=False).same
    assert names(measured(passes=passes, fed=False)) == [("repeated-samples", "1 of 6")]


def test_every_hypothesis_is_proved_by_a_test_above() -> None:
    assert sorted(discover(hypotheses)) == [*(f"Y1{number:02}" for number in range(1, 13)), "Y190"]
