"""What is said of ranks whose parameters were put together by hand, and where nothing is."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, event, frame, frames

from diagnostics.core.findings import Confidence
from diagnostics.core.registry import discover
from diagnostics.diagnosis import silent
from diagnostics.diagnosis.silent import (
    buffers_differ,
    gradients_around_wrapper,
    gradients_erased,
    gradients_reduced_in_vain,
    gradients_zero,
    hook_keeps_gradients,
    model_never_wrapped,
    no_sync_left_on,
    optimizer_of_others,
    parameters_ignored,
    parameters_left_alone,
    second_model_unwrapped,
    weights_differ,
    weights_never_change,
    weights_not_finite,
    wrapper_bypassed,
)
from diagnostics.diagnosis.wrapper import sharded_alone
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall, GroupProgress, LifecycleEvent
from diagnostics.record.parameter_prints import (
    NO_GRADIENT,
    BadLoss,
    Look,
    OptimizedModel,
    ParameterPrints,
    TensorPrint,
    WrapperFacts,
)

TRAIN = """\
import torch.distributed as dist
net = Net()
ddp = DistributedDataParallel(net)
optimizer = SGD(net.parameters(), lr=1)
for x in loader:
    loss = net(x)
    loss.backward()
    optimizer.step()
    dist.all_reduce(loss)
"""
NAN = float("nan")
MODEL = OptimizedModel(
    optimizer=0,
    class_name="SGD",
    stepped=frames("train.py:8"),
    made=frames("train.py:4"),
    names=("a.weight", "b.weight"),
    shapes=("4x3", "3x2"),
    wrapper=(1, 1),
    sharded=(False, False),
    in_model=(True, True),
)
DDP = WrapperFacts(
    class_name="Net",
    made=frames("train.py:3"),
    ranks=(0, 1),
    iterations=9,
    ran=True,
    synchronised=True,
    inner_called=False,
    inner_call=(),
    hooks=0,
    ignored=0,
)
AROUND = replace(DDP, ran=False, iterations=0, inner_called=True, inner_call=frames("train.py:6"))
LOCAL = replace(DDP, hooks=1)
DEVICE = TensorPrint(why="device")
STEPS = (1, 2, 3, 5, 10, 20)
LATE = 5


def tensor(number: float) -> TensorPrint:
    """Returns the sample of a tensor that holds this number."""
    return TensorPrint(checksum=zlib.crc32(repr(number).encode()), size=abs(number), first=number)


Numbers = Callable[[int, int], float]  # of a rank and a step


def same(_: int, step: int) -> float:
    return 1.0 + step


def own(rank: int, step: int) -> float:
    """Equal before the first step, and each rank's own from then on."""
    return 1.0 + step + (0.5 * rank if step > 1 else 0.0)


def kept(rank: int, step: int) -> float:
    return 1.0 + rank


def ranks(
    values: Numbers,
    gradients: Numbers | None,
    *,
    model: OptimizedModel = MODEL,
    wrappers: tuple[WrapperFacts, ...] = (DDP,),
    later: tuple[WrapperFacts, ...] | None = None,
    other: tuple[Numbers, Numbers] = (same, same),
    calls: tuple[CollectiveCall, ...] = (),
    sampler: bool = True,
    world: int = 2,
    numbers: Numbers | None = None,
    bad: dict[int, BadLoss] | None = None,
    graded: int | None = 2,
    rates: tuple[float, ...] = (0.1,),
    on_device: bool = False,
    facts: dict[str, Any] | None = None,
    folder: Path | str = "/job",
    noted: dict[int, tuple[LifecycleEvent, ...]] | None = None,
    loss: float = 1.0,
) -> Job:
    """Returns the job of these ranks; `values` and `gradients` are of a.weight, `other` of b.weight."""

    def look(rank: int, step: int) -> Look:
        if on_device:
            return replace(read(rank, step), values=(DEVICE, DEVICE), gradients=(DEVICE, DEVICE))
        return read(rank, step)

    def read(rank: int, step: int) -> Look:
        told = (gradients, other[1]) if gradients is not None else ()
        return Look(
            model=model,
            step=step,
            values=(tensor(values(rank, step)), tensor(other[0](rank, step))),
            gradients=tuple(tensor(one(rank, step)) for one in told) or (NO_GRADIENT, NO_GRADIENT),
            rates=rates,
            graded=graded,
            closure=False,
            loss=loss,
            backwards=step,
            world_size=world,
            number=3 + step if numbers is None else int(numbers(rank, step)),
            wrappers=wrappers if step < LATE or later is None else later,
        )

    processes = []
    for rank in range(world):
        events = [event("sampler", "DistributedSampler", "train.py:1")] if sampler else []
        groups = (GroupProgress(group="default", ranks=tuple(range(world)), calls=9, rolling_hash=1),)
        told = agent(*events, *(noted or {}).get(rank, ()), pid=100 + rank, collectives=calls, groups=groups)
        prints = ParameterPrints(
            looks=tuple(look(rank, step) for step in STEPS),
            bad_losses=(bad[rank],) if bad is not None and rank in bad else (),
        )
        processes.append(a_process(100 + rank, rank=rank, agent=told, prints=prints))
    return a_job(*processes, code=0, cwd=folder, facts=facts)


def call(op: str, shape: str, number: int, line: int) -> CollectiveCall:
    """Returns one call at a line of the program."""
    return CollectiveCall(
        sequence=number, number=number, op=op, group="default", shape=shape, dtype="float32", root=None,
        path=frames(f"train.py:{line}"), entered_s=1.0, left_s=1.1,
    )  # fmt: skip


LOSSES = tuple(call("all_reduce", "scalar", number, 9) for number in range(4, 40))
LEFT = replace(MODEL, wrapper=(-1, 1))
ALONE = replace(MODEL, wrapper=(0, 0))
BESIDE = replace(MODEL, wrapper=(0, 1))
OFF = replace(DDP, iterations=0, synchronised=False)
SUMS = tuple(call("all_reduce", "18", number, 9) for number in range(4, 40))
EXPERTS = (*LOSSES, call("all_to_all_single", "4x3", 40, 6))
NARROW = replace(DDP, ignored=1)
STALE = replace(MODEL, in_model=(False, True), loose=(("head.weight", "4x3"),), loose_count=1)
OWN = {rank: (event("gradient-group", f"how=fully_shard ranks={rank}"),) for rank in (0, 1)}
BOTH = event("gradient-group", "how=fully_shard ranks=0-1")
SIGNATURES = (
    wrapper_bypassed, no_sync_left_on, parameters_left_alone, second_model_unwrapped, model_never_wrapped,
    buffers_differ, weights_differ, weights_never_change, gradients_erased, gradients_zero, weights_not_finite,
    optimizer_of_others, gradients_reduced_in_vain, parameters_ignored, hook_keeps_gradients, gradients_around_wrapper,
    sharded_alone,
)  # fmt: skip


def late(rank: int, step: int) -> float:
    """Equal up to the first step of LATE's kind, and each rank's own after it."""
    return 1.0 + step + (0.5 * rank if step > LATE else 0.0)


def late_gradients(rank: int, step: int) -> float:
    return 2.0 + (rank if step >= LATE else 0)


def still(_: int, __: int) -> float:
    return 1.0


def zero(_: int, __: int) -> float:
    return 0.0


def broken(rank: int, step: int) -> float:
    return NAN if step > 5 else 1.0 + step


FAULTS: dict[str, tuple[ModuleType, Job, str, tuple[int, ...]]] = {
    "bypassed": (
        wrapper_bypassed,
        ranks(own, own_gradients := lambda rank, step: 2.0 + rank, wrappers=(AROUND,)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since Net is called at train.py:6 "
        "without the DistributedDataParallel around it",
        (0, 1),
    ),
    "no sync": (
        no_sync_left_on,
        ranks(own, own_gradients, wrappers=(OFF,)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since DistributedDataParallel ran with "
        "its synchronisation off before each step",
        (0, 1),
    ),
    "no sync from a later step on": (
        no_sync_left_on,
        ranks(late, late_gradients, later=(OFF,)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 10 on, since DistributedDataParallel ran "
        "with its synchronisation off before each step",
        (0, 1),
    ),
    "left alone": (
        parameters_left_alone,
        ranks(own, own_gradients, model=LEFT),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since DistributedDataParallel was made "
        "at train.py:3 when they did not require gradients, or were not there",
        (0, 1),
    ),
    "second model": (
        second_model_unwrapped,
        ranks(own, own_gradients, model=BESIDE),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since no wrapper holds it, while Net "
        "beside it is wrapped",
        (0, 1),
    ),
    "summed up in vain": (
        gradients_reduced_in_vain,
        ranks(own, own_gradients, model=ALONE, wrappers=(), calls=SUMS, other=(own, own_gradients)),
        "The models of ranks 0, 1 drift apart: a.weight and 1 more parameter differ from step 2 on, since what is "
        "summed up over the ranks at train.py:9 is not what the optimizer's step uses",
        (0, 1),
    ),
    "ignored": (
        parameters_ignored,
        ranks(own, own_gradients, model=LEFT, wrappers=(NARROW,)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since DistributedDataParallel was told "
        "to ignore them, and they train",
        (0, 1),
    ),
    "a hook that exchanges nothing": (
        hook_keeps_gradients,
        ranks(own, own_gradients, wrappers=(LOCAL,), numbers=lambda _, step: 5 - 2 * (step < 2)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since the communication hook hands "
        "back the rank's own gradients: nothing went between the ranks",
        (0, 1),
    ),
    "gradients around the reducer": (
        gradients_around_wrapper,
        ranks(own, own_gradients, numbers=lambda _, step: 5 - 2 * (step < 2)),
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since no backward "
        "pass came by the reducer of DistributedDataParallel: nothing went between the ranks",
        (0, 1),
    ),
    "never wrapped": (
        model_never_wrapped,
        ranks(own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES, other=(own, own_gradients)),
        "The models of ranks 0, 1 drift apart: a.weight and 1 more parameter differ from step 2 on, since nothing "
        "exchanges their gradients: each rank trains a model of its own on its share of the data",
        (0, 1),
    ),
    "sharded over one rank": (
        sharded_alone,
        ranks(own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES[:4], other=(own, own_gradients), noted=OWN),
        "The models of ranks 0, 1 drift apart: a.weight and 1 more parameter differ from step 2 on, since FSDP on each "
        "rank was made over a group of this rank alone: it reduces their gradients with nobody",
        (0, 1),
    ),
    "bypassed on a device": (
        wrapper_bypassed,
        ranks(same, same, wrappers=(AROUND,), calls=LOSSES, on_device=True),
        "The gradients of ranks 0, 1 are not averaged, a.weight and 1 more parameter, since Net is called at "
        "train.py:6 without the DistributedDataParallel around it",
        (0, 1),
    ),
    "other weights": (
        weights_differ,
        ranks(kept, same),
        "Ranks 0, 1 hold different weights: a.weight, from the start, while the gradients of all are equal",
        (0, 1),
    ),
    "one of three": (
        weights_differ,
        ranks(lambda rank, step: step + (rank == 1 and step > 3), same, world=3),
        "Rank 1 holds other weights than the rest: a.weight, from step 5 on, while the gradients of all are equal",
        (1,),
    ),
    "no rate": (
        weights_never_change,
        ranks(still, same, other=(still, same), rates=(0.0,), wrappers=(), model=ALONE),
        "19 optimizer steps changed no parameter, though they had gradients: the learning rate is 0 in each of them",
        (0, 1),
    ),
    "erased": (
        gradients_erased,
        ranks(kept, None, other=(kept, same)),
        "The gradients are erased between the backward pass and the optimizer's step: no step uses any",
        (0, 1),
    ),
    "zero": (
        gradients_zero,
        ranks(same, zero, other=(same, zero), graded=0),
        "All gradients are exactly 0 at each of 6 steps that were looked at: nothing is learnt",
        (0, 1),
    ),
    "not finite": (
        weights_not_finite,
        ranks(broken, same, bad={1: BadLoss(loss=NAN, backward=8, steps=7, path=frames("train.py:7"))}),
        "The weights are NaN from step 10 on, and the job went on; it began on rank 1: its loss was nan in backward "
        "pass 8 at train.py:7",
        (1,),
    ),
    "stale optimizer": (
        optimizer_of_others,
        ranks(kept, None, model=STALE, graded=0),
        "1 parameters of the model have gradients and are in no optimizer, head.weight (4x3) first: the one made at "
        "train.py:4 holds 1 others that nothing uses",
        (0, 1),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_told_by_its_own_signature_and_by_no_other(fault: str) -> None:
    signature, job, title, culprits = FAULTS[fault]
    said = {one.CODE: match for one in SIGNATURES if (match := one.match(job)) is not None}
    assert list(said) == [signature.CODE]
    match = said[signature.CODE]
    assert (match.finding.title, match.culprit_ranks, match.failure_class) == (title, culprits, signature.CLASS)


HOOKED = replace(AROUND, hooks=1)
QUIET: dict[str, Job] = {
    "gradients shared": ranks(same, same),
    "weights of a shard, with gradients of their own": ranks(kept, own_gradients, model=ALONE, wrappers=()),
    "drift of rounding only": ranks(
        lambda rank, step: 1.0 + step + 1e-7 * rank * step, lambda rank, step: 2.0 + 1e-7 * rank, wrappers=(AROUND,)
    ),
    "equal again after a while": ranks(
        lambda rank, step: own(rank, step) if step != 5 else 4.0, own_gradients, wrappers=(AROUND,)
    ),
    "averaged by hand": ranks(
        own, own_gradients, wrappers=(AROUND,), calls=(call("all_reduce", "4x3", 30, 9),)
    ),
    "one flat vector by hand": ranks(
        own, own_gradients, wrappers=(AROUND,), calls=(call("all_reduce", "18", 30, 9),)
    ),
    "sums of which the step uses some": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=SUMS
    ),
    "local steps, and an average of the weights now and then": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=SUMS[:6], other=(own, own_gradients),
        numbers=lambda _, step: 4 + step // 4,
    ),
    "steps with synchronisation first, then local ones with an average of the weights": ranks(
        late, late_gradients, later=(OFF,), calls=(call("all_reduce", "4x3", 30, 9),)
    ),
    "a flag that is off before the last look alone": ranks(
        late, lambda rank, step: 2.0 + rank * (step >= STEPS[-1]), later=(OFF,)
    ),
    "experts of each rank": ranks(own, own_gradients, model=LEFT, wrappers=(NARROW,), calls=EXPERTS),
    "a shard that its wrapper is to ignore": ranks(kept, own_gradients, model=LEFT, wrappers=(NARROW,)),
    "a communication hook": ranks(own, own_gradients, wrappers=(HOOKED,)),
    "a hook that averages now and then": ranks(
        own, own_gradients, wrappers=(LOCAL,), numbers=lambda _, step: 4 + step // 4
    ),
    "gradients averaged by hand": ranks(own, own_gradients, numbers=lambda _, step: 4 + step // 4),
    "a hook, and weights that are averaged by hand": ranks(
        own, own_gradients, wrappers=(LOCAL,), calls=(call("all_reduce", "4x3", 5, 9),),
        numbers=lambda _, step: 3 if step == 1 else 5 + (step > 5),
    ),
    "no sampler: folds, sweeps, players": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES, sampler=False
    ),
    "shards of one rank that are averaged by hand": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=(call("all_reduce", "4x3", 5, 9),), noted=OWN
    ),
    "shards of one rank without a common data set": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES[:4], noted=OWN, sampler=False
    ),
    "one group of one rank, and one of both": ranks(
        own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES[:4],
        noted={rank: (*told, BOTH) for rank, told in OWN.items()},
    ),
    "something in C++ goes between the ranks": ranks(own, own_gradients, model=ALONE, wrappers=(), calls=LOSSES[:4]),
    "objects are gathered": ranks(
        own, own_gradients, model=ALONE, wrappers=(),
        calls=(*LOSSES, call("all_gather_object", "", 41, 9)),
    ),
    "a part that begins at its own values": ranks(kept, own_gradients, model=BESIDE),
    "a warm-up from 0": ranks(lambda _, step: float(step > 3), same, rates=(0.0, 0.1)),
    "sharded parameters": ranks(own, own_gradients, model=replace(MODEL, sharded=(True, True)), wrappers=(AROUND,)),
    "NaN that was put back": ranks(lambda _, step: NAN if step == 5 else 1.0 + step, same),
    "a frozen part": ranks(kept, None, graded=0, model=ALONE, wrappers=()),
    "a wrapper that works on a device": ranks(same, same, on_device=True),
    "something goes between devices": ranks(same, same, wrappers=(AROUND,), calls=LOSSES[:4], on_device=True),
    "one process": ranks(own, own_gradients, world=1),
}  # fmt: skip


@pytest.mark.parametrize("reason", QUIET)
def test_what_differs_or_stands_still_by_design_is_no_fault(reason: str) -> None:
    assert [one.CODE for one in SIGNATURES if one.match(QUIET[reason]) is not None] == []


@pytest.mark.parametrize(
    ("loss", "said", "is_fault"),
    [
        (0.0, "exact: nothing to train, its error is 0", False),
        (1.0, "exact: nothing to train, its error is 0", True),
        (0.0, "epoch 1 loss 0.0", True),
    ],
)
def test_gradients_of_0_are_no_fault_of_a_model_without_error_that_has_nothing_to_train(
    loss: float, said: str, is_fault: bool
) -> None:
    job = ranks(same, zero, other=(same, zero), graded=0, loss=loss)
    found = gradients_zero.match(replace(job, output=said))
    assert (found is not None) is is_fault


def test_a_learning_rate_of_0_that_the_program_asks_for_is_no_fault(tmp_path: Path) -> None:
    def said(line: str) -> bool:
        (tmp_path / "train.py").write_text(f"\n\n\n{line}\n")
        job = ranks(still, same, other=(still, same), rates=(0.0,), wrappers=(), model=ALONE, folder=tmp_path)
        return weights_never_change.match(job) is not None

    assert said("optimizer = SGD(net.parameters(), lr=config.lr)")
    assert not said("optimizer = SGD(net.parameters(), lr=0.0)")


def test_a_state_of_the_optimizer_that_some_ranks_restored_is_the_cause_with_the_line_by_which_only_they_came() -> None:
    resume = (frame("train.py:31", "load"), frame("train.py:7", "resume"), frame("train.py:20", "main"))
    made = replace(event("optimizer", "SGD"), path=(frame("train.py:6", "resume"), resume[-1]))
    restored = replace(event("optimizer-restored", "SGD"), path=resume)

    def said(*ranks_of_it: int, values: Numbers = own) -> tuple[str, tuple[str, ...]]:
        noted = {rank: (made, restored) if rank in ranks_of_it else (made,) for rank in (0, 1)}
        match = weights_differ.match(ranks(values, same, noted=noted))
        assert match is not None
        return match.finding.title.rpartition("gradients of all are equal")[2], match.locations

    always = ("train.py:3", "train.py:4", "train.py:8")
    told = ": only rank 0 restored the state of the optimizer"
    assert said(0) == (told, ("train.py:7", "train.py:20", *always))
    assert said() == said(0, 1) == ("", always)  # something else parts them
    assert said(0, values=kept) == ("", always)  # they differed before any step was made


@pytest.mark.parametrize(
    ("line", "rate", "factor", "told"),
    [
        ("opt.load_state_dict(saved)", 0.0, 10, True),
        ("opt.load_state_dict(saved)", 0.0, 1, False),  # 20 steps may be a phase
        ("opt.load_state_dict(saved)", 0.01, 10, False),
        ("opt = SGD(net.parameters(), lr=0.0)", 0.0, 10, False),  # a probe: nothing is to learn
    ],
)
def test_an_optimizer_that_is_given_a_rate_of_0_by_a_loaded_state_is_told_beside_one_that_learned(
    line: str, rate: float, factor: int, told: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(f"a\nb\nc\n{line}\n")
    learned = ranks(same, same, world=1, folder=tmp_path)
    still_one = ranks(still, same, other=(still, same), world=1, rates=(rate,))
    made = frames(f"{tmp_path}/train.py:4")
    later = tuple(
        replace(look, step=look.step * factor, model=replace(MODEL, optimizer=1, made=made))
        for look in still_one.processes[0].prints.looks
    )
    first = learned.processes[0]
    job = a_job(replace(first, prints=ParameterPrints(looks=(*first.prints.looks, *later))), code=0, cwd=tmp_path)
    match = weights_never_change.match(job)
    assert (match is not None) is told
    if match is not None:
        assert match.locations[0] == "train.py:4"


def test_all_signatures_of_replicas_are_asked_here() -> None:
    codes = {code for code in discover(silent, broken=[]) if "D520" <= code < "D540"}
    assert codes == {one.CODE for one in SIGNATURES if one is not sharded_alone}


def test_what_a_call_of_the_program_might_still_average_is_not_told_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    running = {"exit_code": None}

    def said(**fields: Any) -> list[Confidence]:
        found = wrapper_bypassed.match(ranks(own, own_gradients, wrappers=(AROUND,), folder=tmp_path, **fields))
        return [found.finding.confidence] if found is not None else []

    assert said(facts=running) == []
    assert said(facts=running, calls=(call("all_reduce", "scalar", 4, 9),)) == [Confidence.CONFIRMED]
    assert said() == [Confidence.LIKELY]


def with_buffers(job: Job, value: Numbers, names: tuple[str, ...] = ("encoding.B",)) -> Job:
    """Returns the job with buffers that hold this number of a rank and a step."""
    processes = []
    for process in job.processes:
        looks = tuple(
            replace(
                look,
                model=replace(look.model, buffers=tuple((name, "2x24") for name in names)),
                buffers=tuple(tensor(value(process.rank or 0, look.step)) for _ in names),
            )
            for look in process.prints.looks
        )
        processes.append(replace(process, prints=replace(process.prints, looks=looks)))
    return a_job(*processes, code=0, cwd=job.facts.cwd)


def test_constants_that_differ_under_equal_gradients_are_told_and_what_changes_is_not(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + 'self.register_buffer("B", torch.randn(2, 24))\n')

    def said(value: Numbers, gradients: Numbers = same, **fields: Any) -> tuple[str, ...]:
        found = buffers_differ.match(with_buffers(ranks(same, gradients, folder=tmp_path, **fields), value))
        return (found.finding.title, *found.locations[:2]) if found is not None else ()

    assert said(lambda rank, _: 1.0 + rank) == (
        "encoding.B is another constant on each of ranks 0, 1, while the gradients of all are equal",
        "train.py:10",
        "train.py:3",
    )
    assert said(lambda rank, step: 1.0 + rank * step) == ()  # statistics of a rank's own data
    assert said(lambda *_: 1.0) == ()
    assert said(lambda rank, _: 1.0 + 2 * rank) == ()  # each rank's part of a grid
    assert said(lambda rank, _: 1.0 + rank, own_gradients) == ()  # each rank trains a model of its own
    assert said(lambda rank, _: 1.0 + rank, lambda *_: 0.0, other=(same, lambda *_: 0.0)) == ()


def test_what_one_broadcast_made_equal_and_nothing_averages_is_told_with_the_line_that_is_not_reached(
    tmp_path: Path,
) -> None:
    never = "for p in parameters:\n    dist.all_reduce(p.grad)\n"
    (tmp_path / "train.py").write_text(TRAIN + never)
    first = (call("broadcast", "4x3", 1, 10), call("broadcast", "3x2", 2, 10))

    def said(*calls: CollectiveCall) -> tuple[str, ...]:
        job = ranks(own, own_gradients, wrappers=(), model=ALONE, calls=calls, folder=tmp_path)
        found = model_never_wrapped.match(job)
        return (found.finding.title, *found.locations) if found is not None else ()

    assert said(*first, *LOSSES) == (
        "The models of ranks 0, 1 drift apart: a.weight differs from step 2 on, since gradients are "
        "never averaged: train.py:11, which would do it, is not reached",
        "train.py:4",
        "train.py:11",
        "train.py:8",
    )
    assert said(*first, call("all_reduce", "4x3", 6, 11), *LOSSES) == ()


def test_parameters_that_an_optimizer_was_given_later_are_compared_from_then_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("p.requires_grad = False\nddp = DDP(net)\np.requires_grad = True\n")
    whole = ranks(same, same, other=(own, kept), model=replace(MODEL, wrapper=(1, -1)), folder=tmp_path)

    def before(look: Look) -> Look:
        first = replace(look.model, names=look.model.names[:1], shapes=look.model.shapes[:1])
        return replace(look, model=first, values=look.values[:1], gradients=look.gradients[:1])

    grown = tuple(
        replace(one, prints=replace(one.prints, looks=tuple(
            before(look) if look.step < LATE else look for look in one.prints.looks
        )))
        for one in whole.ranks
    )  # fmt: skip
    assert [len(one.prints.of_optimizer(0)) for one in grown] == [3, 3]
    job = replace(whole, ranks=grown, processes=grown)
    said = {one.CODE: match.locations for one in SIGNATURES if (match := one.match(job)) is not None}
    assert said == {"D522": ("train.py:3", "train.py:4", "train.py:8")}
