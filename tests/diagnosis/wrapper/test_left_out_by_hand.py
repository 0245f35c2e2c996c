"""Parameters that are left out of what ranks exchange: beside FSDP's shards, and beside a reduction by hand."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from types import ModuleType

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics.diagnosis.wrapper import left_out_of_reduction, outside_of_shards
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall, GroupProgress
from diagnostics.record.parameter_prints import Look, OptimizedModel, ParameterPrints, TensorPrint

STEPS = (1, 2, 3, 10, 20)
Numbers = Callable[[int, int], float]  # of a rank and a step


def same(_: int, step: int) -> float:
    return 1.0 + step


def own(rank: int, step: int) -> float:
    """Equal before the first step, and each rank's own from then on."""
    return 1.0 + step + (0.5 * rank if step > 1 else 0.0)


def apart(rank: int, step: int) -> float:
    return 1.0 + step + rank


def zero(_: int, __: int) -> float:
    return 0.0


Part = tuple[str, str, Numbers, Numbers]  # name, shape, values, gradients
NORMS: tuple[Part, ...] = (("a.norm.weight", "32", same, same), ("a.norm.bias", "32", same, same))
CUT: Part = ("a.up.weight", "32x32", apart, apart)
LAST: tuple[Part, ...] = (("last.weight", "32", own, apart), ("last.bias", "32", own, apart))
ADAPTERS: tuple[Part, ...] = (("q.lora_a", "4x48", apart, apart), ("q.lora_b", "48x4", own, apart))
SHARDED = "how=fully_shard ranks=0-1"


def call(op: str, shape: str, number: int) -> CollectiveCall:
    return CollectiveCall(
        sequence=number, number=number, op=op, group="default", shape=shape, dtype="float32", root=None,
        path=frames("train.py:9"), entered_s=1.0, left_s=1.1,
    )  # fmt: skip


GATHERS = tuple(call("all_gather_single", "9480", number) for number in range(4, 40))
SUMS = tuple(call("all_reduce", "64", number) for number in range(4, 40))


def job_of(
    parts: tuple[Part, ...], *, calls: tuple[CollectiveCall, ...], group: str = "", wrapper: int = 0,
    events: tuple[str, ...] = (),
) -> Job:  # fmt: skip
    """Returns the job of two ranks that train these parameters with one optimizer."""
    model = OptimizedModel(
        optimizer=0, class_name="Adam", stepped=frames("train.py:8"), made=frames("train.py:4"),
        names=tuple(name for name, *_ in parts), shapes=tuple(shape for _, shape, *_ in parts),
        wrapper=(wrapper,) * len(parts), sharded=(False,) * len(parts), in_model=(True,) * len(parts),
    )  # fmt: skip

    def tensor(number: float) -> TensorPrint:
        return TensorPrint(checksum=zlib.crc32(repr(number).encode()), size=abs(number), first=number)

    def look(rank: int, step: int) -> Look:
        return Look(
            model=model, step=step, values=tuple(tensor(values(rank, step)) for _, _, values, _ in parts),
            gradients=tuple(tensor(gradients(rank, step)) for *_, gradients in parts), rates=(0.1,), graded=2,
            closure=False, loss=1.0, backwards=step, world_size=2, number=3 + step, wrappers=(),
        )  # fmt: skip

    ranks = []
    for rank in (0, 1):
        noted = [event("gradient-group", group)] if group else []
        noted += [event(*text.partition(" ")[::2]) for text in events]
        whole = GroupProgress(group="default", ranks=(0, 1), calls=9, rolling_hash=1)
        told = agent(*noted, pid=100 + rank, collectives=calls, groups=(whole,))
        prints = ParameterPrints(looks=tuple(look(rank, step) for step in STEPS))
        ranks.append(a_process(100 + rank, rank=rank, agent=told, prints=prints))
    return a_job(*ranks, code=0)


def said(signature: ModuleType, job: Job) -> str:
    match = signature.match(job)
    if match is None:
        return ""
    assert (match.failure_class, match.culprit_ranks) == ("gradients-not-synchronised", (0, 1))
    return match.finding.title


def test_adapters_beside_the_shards_are_told_with_what_drifts() -> None:
    assert said(outside_of_shards, job_of(ADAPTERS, calls=GATHERS, group=SHARDED)) == (
        "The models of ranks 0, 1 drift apart: q.lora_a and 1 more parameter differ from step 1 on, since FSDP shards "
        "the model without them: they came in later, and nobody reduces their gradients"
    )


def test_a_norm_whose_gradients_are_not_reduced_with_those_of_the_others_is_told() -> None:
    assert said(left_out_of_reduction, job_of((*NORMS, CUT, *LAST), calls=SUMS)) == (
        "The models of ranks 0, 1 drift apart: last.weight and 1 more parameter differ from step 2 on, since their "
        "gradients are left out where those of norms like them are made equal on all ranks (train.py:9)"
    )


@pytest.mark.parametrize(
    "job",
    [
        job_of(ADAPTERS, calls=(*GATHERS, call("all_reduce", "4x48", 40)), group=SHARDED),
        job_of(ADAPTERS, calls=(*GATHERS, call("all_reduce", "384", 40)), group=SHARDED),
        job_of(ADAPTERS, calls=(*GATHERS, call("all_to_all_single", "4x3", 40)), group=SHARDED),
        job_of((*ADAPTERS, ("head.weight", "48x4", same, same)), calls=GATHERS, group=SHARDED),
        job_of(ADAPTERS, calls=GATHERS, group="how=ddp ranks=0-1"),
        job_of(ADAPTERS, calls=GATHERS, group="how=fully_shard ranks=0"),
        job_of(ADAPTERS, calls=GATHERS, group=SHARDED, events=("model-parallel ranks=0-1",)),
        job_of(ADAPTERS, calls=GATHERS, group=SHARDED, wrapper=1),
    ],
    ids=[
        "each reduced", "reduced as one", "experts", "one that is shared", "no shards", "shards of its own",
        "parts of one model", "wrapped",
    ],
)  # fmt: skip
def test_what_is_reduced_by_hand_or_is_a_part_by_design_is_not_outside_of_the_shards(job: Job) -> None:
    assert said(outside_of_shards, job) == ""


@pytest.mark.parametrize(
    "parts",
    [
        (*NORMS, CUT),
        (CUT, *LAST),
        (*NORMS, *((name, "16", *rest) for name, _, *rest in LAST)),
        (*NORMS, ("up.weight", "32x32", own, apart), ("up.bias", "32", own, apart)),
        (*NORMS, *((name, shape, apart, apart) for name, shape, *_ in LAST)),
        (*((name, shape, same, zero) for name, shape, *_ in NORMS), *LAST),
        (*((name, shape, same, apart) for name, shape, *_ in NORMS), *LAST),
        (*NORMS, LAST[0], ("last.bias", "32", same, same)),
    ],
    ids=[
        "all reduced", "none reduced", "of a rank's own heads", "a layer that is cut", "other from the start",
        "no gradients", "weights averaged", "half of it",
    ],
)  # fmt: skip
def test_layers_that_are_cut_and_norms_unlike_those_that_are_reduced_are_left_alone(parts: tuple[Part, ...]) -> None:
    assert said(left_out_of_reduction, job_of(parts, calls=SUMS)) == ""
