"""Which ranks read the same samples, and what sharing is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import hand_made as made
import pytest
from made_batches import batch, one_pass, rank, source

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.shared_samples import SampleSharing, shared_samples
from diagnostics.record.agent_data import CollectiveCall, GroupProgress, ModuleEntry, ModuleName

ORDER = [(7 * number) % 40 for number in range(40)]  # each of 40 samples once
OTHER = [(11 * number + 3) % 40 for number in range(40)]
WORLD = (GroupProgress(group="0", ranks=(0, 1), calls=40, rolling_hash=1),)


def a_job(first: Sequence[int], second: Sequence[int], **facts: str) -> Job:
    """Two ranks that went over these samples."""
    sources = [source(one_pass(0, samples), **facts) for samples in (first, second)]
    return made.a_job(*(rank(number, one) for number, one in enumerate(sources)), code=0)


def told(job: Job) -> tuple[SampleSharing, tuple[int, ...], int, int, bool] | None:
    """How, which ranks, batches, samples, whether it is sure."""
    found = shared_samples(job)
    if found is None:
        return None
    return found.how, tuple(one.rank for one in found.loaders), found.batches, found.samples, found.sure


def call(op: str, *functions: str, group: str = "0", shape: str = "4x3") -> CollectiveCall:
    path = tuple(made.frame("train.py:9", function) for function in functions)
    return CollectiveCall(
        sequence=1, number=1, op=op, group=group, shape=shape, dtype="float32", root=None, path=path, entered_s=1.0,
        left_s=1.1,
    )  # fmt: skip


def test_the_same_samples_in_the_same_order_are_sure_after_eight_batches_and_likely_before() -> None:
    assert told(a_job(ORDER, ORDER)) == (SampleSharing.SAME_ORDER, (0, 1), 10, 40, True)
    assert told(a_job(ORDER[:20], ORDER[:20])) == (SampleSharing.SAME_ORDER, (0, 1), 5, 20, False)


def test_all_of_the_data_on_each_rank_in_another_order_is_told_once_the_epoch_is_whole() -> None:
    assert told(a_job(ORDER, OTHER)) == (SampleSharing.SAME_SET, (0, 1), 10, 40, False)
    cut = replace(one_pass(0, OTHER), ended=False)
    assert told(made.a_job(rank(0, source(one_pass(0, ORDER))), rank(1, source(cut)), code=0)) is None


def test_parts_that_overlap_by_more_than_the_padding_of_a_sampler_are_told() -> None:
    assert told(a_job(range(80), range(60, 140))) == (SampleSharing.PART, (0, 1), 20, 20, False)
    assert told(a_job(range(80), range(79, 159))) is None
    assert told(a_job(range(80), range(80, 160))) is None


def test_ranks_of_a_larger_job_that_share_are_named_and_no_others() -> None:
    group = "how=ddp ranks=0-3"
    parts = [range(40), range(40), range(100, 140), range(40)]
    ranks = [rank(number, source(one_pass(0, part)), shares=group) for number, part in enumerate(parts)]
    assert told(made.a_job(*ranks, code=0)) == (SampleSharing.SAME_ORDER, (0, 1, 3), 10, 40, True)


HARMLESS: dict[str, dict[str, Any]] = {
    "each rank takes its share of a batch": {"given": 2},
    "no model is trained": {"trained_batches": False},
    "all words of a batch are the same": {"constant": True},
    "no optimizer steps": {"steps": 0},
}


@pytest.mark.parametrize("why", HARMLESS)
def test_equal_batches_are_left_alone_where(why: str) -> None:
    ranks = [rank(number, source(one_pass(0, ORDER, **HARMLESS[why]))) for number in range(2)]
    assert told(made.a_job(*ranks, code=0)) is None


@pytest.mark.parametrize(
    "samples",
    [[1, 2, 3, 4] * 10, ORDER[:12], [5] * 40],
    ids=["one batch again and again", "three batches", "one sample"],
)
def test_too_few_samples_to_be_shared_by_mistake_are_left_alone(samples: list[int]) -> None:
    assert told(a_job(samples, samples)) is None


def test_a_data_set_of_a_batch_for_each_rank_is_left_alone() -> None:
    assert told(a_job(ORDER, ORDER, length="8")) is None
    assert told(a_job(ORDER, ORDER, length="9")) is not None


def test_ranks_that_run_other_parts_of_a_model_may_read_the_same() -> None:
    def entered(*paths: str) -> tuple[ModuleEntry, ...]:
        modules = [ModuleName(path=path, class_name="M", root_class="Net") for path in paths]
        return tuple(ModuleEntry(sequence=n, module=one, backward=False) for n, one in enumerate(modules))

    def ways(first: Sequence[str], second: Sequence[str]) -> Job:
        ranks = [rank(n, source(one_pass(0, ORDER)), entered=entered(*way)) for n, way in enumerate((first, second))]
        return made.a_job(*ranks, code=0)

    stem = ["", "stem", "head"]
    assert told(ways(["", "stem", "arm.0", *stem], ["", "stem", "arm.1", *stem])) is None
    assert told(ways([*stem, *stem, *stem], [*stem, *stem])) is not None  # a validation on one rank is none
    out_of_step = ["", "stem", "arm.0", "", "stem", "arm.2", *stem], ["", "stem", "", "stem", "arm.1", *stem]
    assert told(ways(*out_of_step)) is None


def test_a_rank_that_validates_in_between_takes_no_other_way_when_it_trains() -> None:
    def entered(*paths: str) -> tuple[ModuleEntry, ...]:
        modules = [ModuleName(path=path, class_name="M", root_class="Net") for path in paths]
        return tuple(ModuleEntry(sequence=n, module=one, backward=False) for n, one in enumerate(modules))

    trained, judged = ["", "", "stem", "head", "aux"], ["", "stem", "head"]  # a wrapper is entered, and then its model
    for mine in ([*trained, *judged, *trained, *trained], [*trained, *judged, *judged, *trained]):
        ranks = [
            rank(n, source(one_pass(0, ORDER)), entered=entered(*way)) for n, way in enumerate((mine, 4 * trained))
        ]
        assert told(made.a_job(*ranks, code=0)) is not None


def test_samples_that_are_drawn_with_replacement_may_come_on_two_ranks() -> None:
    assert told(a_job(ORDER, OTHER, replacement="1")) is None


def test_ranks_that_skip_the_batches_of_others_read_their_own() -> None:
    def every_other(first: int) -> Job | Any:
        log = tuple(
            batch(at, ORDER[4 * at : 4 * at + 4], trained=at % 2 == first, given=4 * (at % 2 == first))
            for at in range(10)
        )
        return source(replace(one_pass(0, ORDER), log=log, trained=5))

    assert told(made.a_job(rank(0, every_other(0)), rank(1, every_other(1)), code=0)) is None


def test_ranks_without_a_common_group_of_gradients_may_read_what_they_like() -> None:
    for shares in ("", "how=ddp ranks=0", "how=ddp ranks=0,2"):
        ranks = [rank(number, source(one_pass(0, ORDER)), shares=shares) for number in range(2)]
        assert told(made.a_job(*ranks, code=0)) is None


def test_gradients_that_are_reduced_by_hand_make_a_group_and_a_reduced_metric_does_not() -> None:
    def reducing(shape: str) -> Job:
        fields = {"collectives": (call("all_reduce", "main", shape=shape),) * 4, "groups": WORLD}
        events = [made.event("trained-shapes", "parameters=15 shapes=3,4x3")]
        ranks = [rank(n, source(one_pass(0, ORDER)), shares="", events=events, **fields) for n in range(2)]
        return made.a_job(*ranks, code=0)

    assert told(reducing("4x3")) == (SampleSharing.SAME_ORDER, (0, 1), 10, 40, False)
    assert told(reducing("15")) == (SampleSharing.SAME_ORDER, (0, 1), 10, 40, False)
    assert told(reducing("2")) is None


@pytest.mark.parametrize(
    ("calls", "silent"),
    [
        ((call("all_gather", "Attention.forward", "main"),), True),
        ((call("all_reduce", "Sum.backward"),), True),
        ((call("send", "main"),) * 3, True),
        ((call("broadcast_object_list", "main"),), False),
        ((call("all_reduce", "main"),), False),
    ],
    ids=["in forward", "in backward", "stages of a pipeline", "a configuration", "a metric"],
)
def test_ranks_that_exchange_what_is_inside_of_the_model_hold_parts_of_it(
    calls: tuple[CollectiveCall, ...], silent: bool
) -> None:
    ranks = [rank(n, source(one_pass(0, ORDER)), collectives=calls, groups=WORLD) for n in range(2)]
    assert (told(made.a_job(*ranks, code=0)) is None) is silent


@pytest.mark.parametrize(("ranks_told", "silent"), [((0, 1), False), ((0, 0), True)], ids=["apart", "alike"])
def test_what_a_contrastive_loss_gathers_is_no_part_of_a_model_where_the_samplers_divide_the_data(
    ranks_told: tuple[int, int], silent: bool
) -> None:
    gathers = {"collectives": (call("all_gather", "Contrast.forward", "main"),), "groups": WORLD}
    ranks = [
        rank(number, source(one_pass(0, ORDER), num_replicas="2", sampler_rank=str(said)), **gathers)
        for number, said in enumerate(ranks_told)
    ]
    assert (told(made.a_job(*ranks, code=0)) is None) is silent


@pytest.mark.parametrize(("epochs", "found"), [((2, 3), True), ((2, 2), False)], ids=["apart", "one"])
def test_augmented_samples_are_the_same_by_their_indices_where_samplers_stand_at_different_epochs(
    epochs: tuple[int, int], found: bool
) -> None:
    def views(number: int) -> Any:
        read = one_pass(0, [40 * number + at for at in range(40)], epoch=epochs[number])
        log = tuple(replace(one, samples=tuple(1000 * (number + 1) + at for at in one.samples)) for one in read.log)
        shifted = tuple(replace(one, indices=tuple(at - 20 * number for at in one.indices)) for one in log)
        return source(replace(read, log=shifted), num_replicas="2", sampler_rank=str(number))

    job = made.a_job(*(rank(number, views(number)) for number in (0, 1)), code=0)
    assert told(job) == ((SampleSharing.PART, (0, 1), 10, 20, False) if found else None)


def mesh_job(shares: str, mesh: str) -> Job:
    """Four ranks that all read the same."""
    events = [made.event("device-mesh", mesh)] if mesh else []
    ranks = [rank(n, source(one_pass(0, ORDER)), shares=shares, events=events) for n in range(4)]
    return made.a_job(*ranks, code=0)


def test_a_mesh_tells_copies_of_a_model_from_its_parts() -> None:
    hybrid = "how=fully_shard ranks=0-3 shape=2x2 of=0-3"
    assert told(mesh_job(hybrid, "shape=2x2 of=0-3")) == (SampleSharing.SAME_ORDER, (0, 1, 2, 3), 10, 40, True)
    # Sharded over a flattened mesh: one of its dimensions cuts the sequence.
    assert told(mesh_job("how=fully_shard ranks=0-3", "shape=2x2 of=0-3")) is None
    # Data in the first dimension, tensors in the second: ranks 0 and 2 are copies.
    assert told(mesh_job("how=fully_shard ranks=0,2", "shape=2x2 of=0-3")) == (
        SampleSharing.SAME_ORDER,
        (0, 2),
        10,
        40,
        True,
    )


def test_ranks_over_which_one_model_or_sequence_is_cut_may_read_the_same() -> None:
    events = [made.event("model-parallel", "ranks=0-1")]
    ranks = [rank(n, source(one_pass(0, ORDER)), shares="how=fully_shard ranks=0-3", events=events) for n in range(3)]
    assert told(made.a_job(*ranks[:2], code=0)) is None
    assert told(made.a_job(*ranks, code=0)) == (SampleSharing.SAME_ORDER, (0, 2), 10, 40, True)


def test_a_stream_that_draws_its_samples_is_left_alone_unless_they_come_again() -> None:
    def streams(*orders: Sequence[int], moved: str) -> Job:
        told = made.event("worker-random", f"worker=0 workers=0 dataset=Songs {moved}")
        passes = [one_pass(n, order) for n, order in enumerate(orders)]
        return made.a_job(*(rank(n, source(*passes, kind="iterable"), events=[told]) for n in range(2)), code=0)

    same = (SampleSharing.SAME_ORDER, (0, 1), 10, 40, True)
    assert told(streams(ORDER, range(50, 90), moved="torch:0a")) is None
    assert told(streams(ORDER, range(50, 90), moved="")) == same
    assert told(streams(ORDER, ORDER, moved="torch:0a")) == same


def test_a_model_without_a_loader_is_told_where_its_inputs_come_again() -> None:
    assert told(a_job([*ORDER, *OTHER], [*ORDER, *OTHER], kind="input")) == (
        SampleSharing.SAME_ORDER,
        (0, 1),
        20,
        40,
        True,
    )
    assert told(a_job(range(80), range(80), kind="input")) is None  # fresh numbers on each step


def test_samples_that_are_drawn_alike_at_one_place_from_other_indices_are_not_shared_ones() -> None:
    def read(prints: Sequence[int], first: int) -> Any:
        whole = one_pass(0, prints)
        log = tuple(replace(one, indices=tuple(2 * value + first for value in one.samples)) for one in whole.log)
        return replace(whole, log=log)

    def job(mine: Sequence[int], theirs: Sequence[int], drawn: str) -> Job:
        events = [made.event("worker-random", f"worker=0 workers=0 dataset=Songs{drawn}")]
        both = [read(mine, 0), read(theirs, 1)]
        return made.a_job(*(rank(n, source(one), events=events) for n, one in enumerate(both)), code=0)

    some = [value if value % 4 else value + 1000 for value in range(80)]  # of one class: the noise alone differs
    assert told(job(range(80), some, "")) is None
    assert told(job(range(80), [*some[4:], *some[:4]], "")) == (SampleSharing.PART, (0, 1), 20, 60, False)
    assert told(job(range(80), range(80), " torch:0a1b2c3d")) is None
    assert told(job(range(80), range(80), "")) == (SampleSharing.SAME_ORDER, (0, 1), 20, 80, True)
