"""Epochs that repeat their order, workers that repeat samples or random numbers, and validation on training samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made as made
import pytest
from made_batches import batch, one_pass, rank, source

from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.samples.epoch_order import Repeats, repeated_order
from diagnostics.dynamic.samples.validation_overlap import trained_validation
from diagnostics.dynamic.samples.worker_overlap import repeated_by_workers
from diagnostics.dynamic.samples.worker_random import shared_generator
from diagnostics.record.batch_data import LoaderPass

ORDER = [(7 * number) % 40 for number in range(40)]
OTHER = [(11 * number + 3) % 40 for number in range(40)]
SHUFFLES = {"sampler": "DistributedSampler", "shuffle": "1"}
DRAWS = {"sampler": "RandomSampler", "replacement": "0"}


def epochs(*orders: Sequence[int], fields: Sequence[dict[str, Any]] = ({}, {}), **facts: str) -> Job:
    """One rank that went over a loader so often."""
    passes = [one_pass(n, order, **more) for n, (order, more) in enumerate(zip(orders, fields, strict=True))]
    return made.a_job(rank(0, source(*passes, **facts)), code=0)


def why(job: Job) -> Repeats | None:
    found = repeated_order(job)
    return found.why if found is not None else None


def at(epoch: int, now: int | None = None, own: int = 0, others: int = 0, **more: Any) -> dict[str, Any]:
    """A pass of a sampler at this epoch, when it began and at its end."""
    return {
        "epoch": epoch, "epoch_now": epoch if now is None else now, "own_epoch_calls": own,
        "other_epoch_calls": others, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (at(0), at(0), Repeats.NEVER_SET),
        (at(0, others=1), at(0, others=2), Repeats.OTHER_SAMPLER),
        (at(0, own=1), at(0, now=1, own=2), Repeats.SET_LATE),
        (at(5, own=1), at(5, own=2), Repeats.SET_ALIKE),
    ],
)
def test_why_a_sampler_repeats_its_order_is_told(
    first: dict[str, Any], second: dict[str, Any], expected: Repeats
) -> None:
    assert why(epochs(ORDER, ORDER, fields=(first, second), **SHUFFLES)) is expected


def test_a_seed_that_is_set_before_each_epoch_is_told() -> None:
    assert why(epochs(ORDER, ORDER, **DRAWS)) is Repeats.SEEDED_ALIKE


QUIET: dict[str, Job] = {
    "another order": epochs(ORDER, OTHER, fields=(at(0), at(1, own=1)), **SHUFFLES),
    "another order at one epoch": epochs(ORDER, OTHER, fields=(at(0), at(0)), **SHUFFLES),
    "no shuffling is meant": epochs(ORDER, ORDER, fields=(at(0), at(0)), sampler="DistributedSampler", shuffle="0"),
    "one after the other": epochs(ORDER, ORDER, sampler="SequentialSampler"),
    "another training": epochs(ORDER, ORDER, fields=({}, {"optimizer": 2}), **DRAWS),
    "no training": epochs(ORDER, ORDER, fields=({"steps": 0}, {"steps": 0}), **DRAWS),
    "a warm-up before it": epochs(ORDER, ORDER, fields=(at(0), at(0, own=1)), **SHUFFLES),
    "a warm-up cut short": epochs(ORDER, ORDER, fields=(at(0, ended=False), at(0)), **SHUFFLES),
    "few samples": epochs(ORDER[:12], ORDER[:12], **DRAWS),
    "one batch": epochs(ORDER, ORDER, fields=({"rows": 40}, {"rows": 40}), **DRAWS),
    "drawn with replacement": epochs(ORDER, ORDER, sampler="RandomSampler", replacement="1"),
}


@pytest.mark.parametrize("what", QUIET)
def test_epochs_are_left_alone_where_there_is(what: str) -> None:
    assert why(QUIET[what]) is None


def from_workers(*parts: Sequence[int], ended: bool = True) -> LoaderPass:
    """Returns a pass in which workers take turns, two samples a batch."""
    rows = [part[first : first + 2] for first in range(0, len(parts[0]), 2) for part in parts]
    log = tuple(batch(number, row) for number, row in enumerate(rows))
    whole = one_pass(0, [value for row in rows for value in row], rows=2)
    return replace(whole, log=log, ended=ended)


@pytest.mark.parametrize(
    ("one", "kind", "expected"),
    [
        (from_workers(range(20), range(20)), "iterable", (2, True, 20)),
        (from_workers(range(20), range(20), ended=False), "iterable", (2, True, 20)),
        (from_workers(range(20), [*range(19, -1, -1)]), "iterable", (2, False, 20)),
        (from_workers(range(20), [*range(19, -1, -1)], ended=False), "iterable", None),
        (from_workers(range(20), range(20, 40)), "iterable", None),
        (from_workers([3] * 20, [3] * 20), "iterable", None),
        (from_workers(range(20), range(20)), "map", None),
    ],
)
def test_workers_that_read_the_whole_of_a_stream_are_told(
    one: LoaderPass, kind: str, expected: tuple[int, bool, int] | None
) -> None:
    found = repeated_by_workers(made.a_job(rank(0, source(one, kind=kind, workers="2")), code=0))
    assert ((found.workers, found.in_order, found.samples) if found is not None else None) == expected


def workers(*states: str, dataset: str = "Songs", kind: str = "map", **job: Any) -> Job:
    """A rank whose workers began with these states of generators."""
    children: list[JobProcess] = []
    for number, state in enumerate(states):
        told = made.event("worker-random", f"worker={number} workers=2 dataset={dataset} {state}")
        agent = made.agent(told, pid=200 + number)
        children.append(made.a_process(200 + number, part=ProcessRole.DATA_WORKER, parent_pid=100, agent=agent))
    owner = rank(0, source(one_pass(0, ORDER), kind=kind, workers="2"))
    return made.a_job(owner, *children, code=0, **job)


def test_a_generator_that_begins_in_one_state_in_all_workers_is_told() -> None:
    found = shared_generator(workers("torch:01 noise.rng:0a", "torch:02 noise.rng:0a"))
    assert found is not None
    assert (found.name, found.dataset, found.states) == ("noise.rng", "Songs", ((0, "0a"), (1, "0a")))


@pytest.mark.parametrize(
    "states",
    [("torch:01 rng:0a", "torch:02 rng:0b"), ("torch:01", "torch:02"), ("rng:0a",)],
    ids=["own generators", "nothing held", "one worker"],
)
def test_workers_with_numbers_of_their_own_are_left_alone(states: tuple[str, ...]) -> None:
    assert shared_generator(workers(*states)) is None


USES = {
    "noise": ("x + self.noise.standard_normal(8)", True),
    "noise by torch": ("x + torch.randn(8, generator=self.noise)", True),
    "a place in the buffer": ("held[self.noise.integers(64)]", False),
    "an order": ("self.noise.shuffle(held)", False),
    "noise of another": ("x + self.other.normal(8)", False),
}


@pytest.mark.parametrize("how", USES)
def test_workers_of_a_stream_may_choose_alike_and_not_make_noise_alike(how: str, tmp_path: Path) -> None:
    drawn, told = USES[how]
    files = {"train.py": f"def sample(self, x, held):\n    return {drawn}\n"}
    found = shared_generator(workers("noise:0a", "noise:0a", kind="iterable", cwd=tmp_path, files=files))
    assert (found is not None) == told


HANDED = """\
class Shift:
    def __init__(self, rng):
        self.noise = rng
def chain(seed):
    {name} = np.random.default_rng(seed)
    return Shift({name})
"""


@pytest.mark.parametrize(("name", "line"), [("rng", 5), ("other", 3)])
def test_a_generator_that_a_class_is_handed_is_made_where_that_name_is(name: str, line: int, tmp_path: Path) -> None:
    files = {"train.py": HANDED.format(name=name)}
    found = shared_generator(workers("chain.noise:0a", "chain.noise:0a", cwd=tmp_path, files=files))
    assert found is not None
    assert found.made_at is not None
    assert found.made_at.line == line


PROGRAM = "train_loader = DataLoader(train_set)\n{name} = DataLoader({data})\n"


def validating(folder: Path, samples: Sequence[int], *, name: str = "val_loader", data: str = "train_set") -> Job:
    """A rank that trains on ORDER and goes over `samples` without training."""
    seen = one_pass(0, samples, steps=0, trained=0, trained_batches=False)
    sources = [
        source(one_pass(0, ORDER), at=f"{folder}/train.py:1"),
        source(seen, at=f"{folder}/train.py:2"),
    ]
    text = PROGRAM.format(name=name, data=data)
    return made.a_job(rank(0, *sources), code=0, cwd=folder, files={"train.py": text})


@pytest.mark.parametrize(
    ("samples", "name", "expected"),
    [
        (ORDER[:24], "val_loader", (24, 24)),
        (ORDER[:24], "self.test_dl", (24, 24)),
        (range(100, 124), "val_loader", None),
        ([*ORDER[:12], *range(100, 112)], "val_loader", None),
        ([*ORDER[:24], *range(100, 106)], "val_loader", (24, 30)),
        ([*ORDER[:20], *range(100, 128)], "val_loader", None),
        (ORDER[:24], "train_eval_loader", None),
        (ORDER[:24], "values", None),
        (ORDER[:8], "val_loader", None),
    ],
)
def test_a_loader_that_is_called_one_for_validation_must_not_hand_over_training_samples(
    samples: Sequence[int], name: str, expected: tuple[int, int] | None, tmp_path: Path
) -> None:
    found = trained_validation(validating(tmp_path, samples, name=name))
    assert ((found.samples, found.of) if found is not None else None) == expected


FOLD = tuple(range(100, 124))  # what a model was not trained on


def in_folds(folder: Path, *passes: tuple[int, Sequence[int], float, bool], one_model: bool = False) -> Job:
    """Ranks that went over these samples: (rank, samples, when, whether they trained on them)."""
    at = {True: f"{folder}/train.py:1", False: f"{folder}/train.py:2"}
    read: dict[int, list[Any]] = {0: [], 1: []}
    for number, samples, began_s, trained in passes:
        fields = {} if trained else {"steps": 0, "trained": 0, "trained_batches": False}
        read[number].append(source(one_pass(0, samples, began_s=began_s, **fields), at=at[trained]))
    shares = "how=ddp ranks=0-1" if one_model else ""
    ranks = [rank(number, *sources, shares=shares) for number, sources in read.items()]
    text = PROGRAM.format(name="val_loader", data="val_set")
    return made.a_job(*ranks, code=0, cwd=folder, files={"train.py": text})


def test_what_other_folds_train_on_is_no_leak(tmp_path: Path) -> None:
    first, second = [(0, ORDER, 1.0, True), (0, FOLD, 2.0, False)], [(0, FOLD, 3.0, True), (0, ORDER, 4.0, False)]
    assert trained_validation(in_folds(tmp_path, *first, *second)) is None
    assert trained_validation(in_folds(tmp_path, *first, (0, FOLD, 3.0, True), (0, FOLD, 4.0, False))) is not None


def test_what_is_tested_and_then_trained_on_is_no_leak(tmp_path: Path) -> None:
    chunks = [(0, FOLD, 0.5, False), (0, FOLD, 1.0, True), (0, ORDER, 2.0, False), (0, ORDER, 3.0, True)]
    assert trained_validation(in_folds(tmp_path, *chunks)) is None


def test_what_another_rank_trains_on_is_a_leak_where_they_train_one_model(tmp_path: Path) -> None:
    both = [(0, FOLD, 1.0, True), (0, ORDER, 2.0, False), (1, ORDER, 1.0, True), (1, FOLD, 2.0, False)]
    assert trained_validation(in_folds(tmp_path, *both)) is None
    found = trained_validation(in_folds(tmp_path, *both, one_model=True))
    assert found is not None
    assert [one.rank for one in found.loaders] == [0, 1]
