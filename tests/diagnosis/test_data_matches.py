"""What is said of ranks, epochs and workers that trained on the wrong data: whole titles, proofs, fixes and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hand_made as made
import pytest
from made_batches import batch, one_pass, rank, source

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Role
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.silent import (
    epochs_repeat_order,
    ranks_share_samples,
    validation_on_training_samples,
    workers_repeat_samples,
    workers_share_random,
)
from diagnostics.dynamic.job.job import Job, ProcessRole

PROGRAM = """\
songs = Songs()
sampler = DistributedSampler(songs, rank=0)
loader = DataLoader(songs, 4, sampler=sampler)
val_loader = DataLoader(songs)
for epoch in range(9):
    for x in loader:
        step(x)
class Songs:
    def __init__(self):
        self.rng = default_rng(0)
"""
ORDER = [(7 * number) % 40 for number in range(40)]


def a_job(folder: Path, *sources: Sequence[Any], events: Sequence[Any] = (), **fields: Any) -> Job:
    """Ranks that read from these loaders."""
    ranks = [rank(number, *one, events=events) for number, one in enumerate(sources)]
    return made.a_job(*ranks, code=0, cwd=folder, files={"train.py": PROGRAM}, **fields)


def told(match: Match | None) -> tuple[str, str, tuple[str, ...], Confidence, tuple[int, ...]]:
    """Title, fix, lines, how sure and which ranks."""
    assert match is not None
    assert match.outcome is JobOutcome.SILENT_WRONG
    finding = match.finding
    assert finding.fix is not None
    return finding.title, finding.fix.text, match.locations, finding.confidence, match.culprit_ranks


def shared(folder: Path, samples: Sequence[Sequence[int]] = (ORDER, ORDER), **facts: str) -> Job:
    sampler_at = f"{folder}/train.py:2" if "num_replicas" in facts else ""
    ranks = [
        [source(one_pass(0, order), at=f"{folder}/train.py:3", sampler_at=sampler_at, **facts)] for order in samples
    ]
    return a_job(folder, *ranks)


CAUSES = {
    "early": (
        {"sampler": "RandomSampler", "group_at_loader": "0"},
        "Ranks 0, 1 train on the same samples in the same order: the loader of train.py:3 has a RandomSampler and no "
        "DistributedSampler; the process group did not exist yet when it was built",
        "after init_process_group, write sampler = DistributedSampler(songs, shuffle=True); DataLoader(songs, "
        "sampler=sampler, ...) without shuffle=True, and sampler.set_epoch(epoch) before each epoch",
        ("train.py:3",),
    ),
    "rank": (
        {"sampler": "DistributedSampler", "num_replicas": "2", "sampler_rank": "0", "group_at_sampler": "1"},
        "Ranks 0, 1 train on the same samples in the same order: the sampler of train.py:2 is told rank=0 of "
        "num_replicas=2 on each of them",
        "write DistributedSampler(songs, num_replicas=dist.get_world_size(), rank=dist.get_rank()), and call "
        "set_epoch(epoch) on it before each epoch",
        ("train.py:2", "train.py:3"),
    ),
    "stream": (
        {"kind": "iterable", "sampler": "_InfiniteConstantSampler"},
        "Ranks 0, 1 train on the same samples in the same order: the loader of train.py:3 reads an IterableDataset "
        "that is not divided by rank",
        "let each rank and each worker skip what others read: in __iter__ of the data set, "
        "itertools.islice(samples, rank * workers + worker, None, world_size * workers)",
        ("train.py:3",),
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_why_ranks_share_samples_is_said_with_the_line_to_write(name: str, tmp_path: Path) -> None:
    facts, title, fix, lines = CAUSES[name]
    match = ranks_share_samples.match(shared(tmp_path, **facts))
    assert told(match) == (title, fix, lines, Confidence.CONFIRMED, (0, 1))


MINE = """\
class Shards:
    def __init__(self, songs):
        self.rank = dist.get_rank() if dist.is_initialized() else 0
    def __iter__(self):
        return iter(range(self.rank, 40, 2))
def loader_of(songs):
    return DataLoader(songs, 4, sampler=Shards(songs))
def main():
    loader = loader_of(Songs())
    setup()
def setup():
    dist.init_process_group("gloo")
"""


def test_a_sampler_that_asked_for_its_rank_before_there_was_a_group_is_named_with_the_call_to_be_moved(
    tmp_path: Path,
) -> None:
    def path(*places: tuple[int, str]) -> tuple[Any, ...]:
        return tuple(made.frame(f"{tmp_path}/train.py:{line}", name) for line, name in places)

    def said(program: str, **facts: str) -> tuple[str, str, tuple[str, ...]]:
        built = path((7, "loader_of"), (9, "main"), (20, "<module>"))
        group = path((12, "setup"), (10, "main"), (20, "<module>"))
        begin = replace(made.event("process-group-begin", "rank=0"), path=group)
        other = replace(begin, path=path((12, "setup"), (4, "evaluate"), (30, "<module>")))  # an earlier one, elsewhere
        loaders = [[replace(source(one_pass(0, ORDER), **facts), built=built)] for _ in range(2)]
        job = a_job(tmp_path, *loaders, events=[other, begin])
        (tmp_path / "train.py").write_text(program)
        title, fix, lines, *_ = told(ranks_share_samples.match(job))
        return title.partition(": ")[2], fix, lines[:2]

    early = {"sampler": "Shards", "group_at_loader": "0"}
    cause = "Shards asks for its rank, and the loader of train.py:7 was built before the process group existed: each "
    assert said(MINE, **early) == (
        cause + "rank takes itself for rank 0 of 1",
        "call init_process_group (at train.py:10) before train.py:9",
        ("train.py:9", "train.py:7"),
    )
    plain = "what the loader of train.py:7 reads does not depend on the rank"
    assert said(MINE, **{**early, "group_at_loader": "1"})[0] == plain  # the answer was right
    asks_late = MINE.replace("def __init__(self, songs)", "def __len__(self)")  # by then there is a group
    assert said(asks_late, **early)[0] == plain


def test_the_prints_of_the_ranks_stand_side_by_side(tmp_path: Path) -> None:
    def read() -> list[Any]:
        log = tuple(batch(n, ORDER[4 * n : 4 * n + 4], whole=(n + 1) << 32) for n in range(10))
        return [source(one_pass(0, ORDER, log=log), at=f"{tmp_path}/train.py:3")]

    match = ranks_share_samples.match(a_job(tmp_path, read(), read()))
    assert match is not None
    row = "00000001 00000002 00000003 00000004 (samples 0, 7, 14, 21 ...)"
    assert [(one.source, one.observed, one.expected) for one in match.finding.evidence[:2]] == [
        ("rank 0: prints of batches 1, 2, 3, 4 of epoch 1", row, ""),
        ("rank 1: prints of batches 1, 2, 3, 4 of epoch 1", row, "other ones on each rank"),
    ]
    assert match.finding.evidence[2].source == "train.py:3"


def test_parts_that_overlap_and_a_whole_set_on_each_rank_are_likely(tmp_path: Path) -> None:
    other = [(11 * number + 3) % 40 for number in range(40)]
    title, _, _, sure, _ = told(ranks_share_samples.match(shared(tmp_path, (ORDER, other))))
    assert (sure, title.partition(":")[0]) == (
        Confidence.LIKELY, "Ranks 0, 1 each train on the whole data set, every sample 2 times in an epoch",
    )  # fmt: skip
    title, _, _, sure, _ = told(ranks_share_samples.match(shared(tmp_path, (range(80), range(60, 140)))))
    assert (sure, title.partition(":")[0]) == (
        Confidence.LIKELY, "Ranks 0, 1 train on parts that overlap, 20 of 80 samples are the other's too",
    )  # fmt: skip


def overlapping(folder: Path, epochs: Sequence[int | None]) -> Job:
    """Ranks whose samplers know their ranks, and hand over parts that overlap; at these epochs."""
    facts = {"sampler": "DistributedSampler", "num_replicas": "2"}
    set_at = made.frames(f"{folder}/train.py:6")
    ranks = [
        [source(one_pass(0, order, epoch=epochs[rank], epoch_path=set_at), at=f"{folder}/train.py:3",
                sampler_at=f"{folder}/train.py:2", sampler_rank=str(rank), **facts)]
        for rank, order in enumerate((range(80), range(60, 140)))
    ]  # fmt: skip
    return a_job(folder, *ranks)


def test_samplers_at_different_epochs_are_told_with_the_line_that_calls_set_epoch(tmp_path: Path) -> None:
    title, fix, lines, _, _ = told(ranks_share_samples.match(overlapping(tmp_path, (4, 5))))
    assert title.partition(": ")[2] == (
        "their samplers stand at different epochs (4 on rank 0, 5 on rank 1; set_epoch is called at train.py:6), and "
        "each rank cuts its part out of another order"
    )
    assert fix.startswith("call set_epoch(epoch) with the same epoch on all ranks")
    assert lines == ("train.py:6", "train.py:2", "train.py:3")


def test_a_split_that_each_rank_draws_for_itself_is_told_with_the_line_that_draws_it(tmp_path: Path) -> None:
    job = overlapping(tmp_path, (4, 4))
    (tmp_path / "train.py").write_text(PROGRAM + "train, val = random_split(songs, [400, 100])\n")

    title, fix, lines, _, _ = told(ranks_share_samples.match(job))

    assert title.partition(": ")[2] == (
        "the sampler of train.py:2 is told each rank's own rank of 2, and the data set that it divides is not the same "
        "on all of them"
    )
    assert fix == (
        "draw the split alike on all ranks, whatever their seeds: random_split(data, lengths, "
        "generator=torch.Generator().manual_seed(0))"
    )
    assert lines == (f"train.py:{PROGRAM.count(chr(10)) + 1}", "train.py:2", "train.py:3")


def test_beside_a_crash_it_is_no_root_and_after_ctrl_c_it_is(tmp_path: Path) -> None:
    ranks = shared(tmp_path).ranks
    crashed = made.a_job(*ranks, code=1, cwd=tmp_path)
    stopped = made.a_job(*ranks, code=130, cwd=tmp_path, facts={"ended_by": "interrupt"})
    found = [ranks_share_samples.match(one) for one in (crashed, stopped)]
    assert [match.finding.role for match in found if match is not None] == [Role.CASCADE, Role.ROOT]


def test_a_forgotten_set_epoch_is_said_with_the_line_of_the_sampler(tmp_path: Path) -> None:
    passes = [one_pass(n, ORDER, epoch=0, epoch_now=0) for n in range(2)]
    facts = {"sampler": "DistributedSampler", "shuffle": "1"}
    read = [source(*passes, at=f"{tmp_path}/train.py:3", sampler_at=f"{tmp_path}/train.py:2", **facts)]
    iterated = made.event("loader-iter", "workers=0 dataset=Songs", f"{tmp_path}/train.py:6")
    match = epochs_repeat_order.match(a_job(tmp_path, read, read, events=[iterated]))
    assert told(match) == (
        "Ranks 0, 1 go over the samples in the same order in each epoch: set_epoch is never called on the sampler of "
        "train.py:2",
        "write sampler.set_epoch(epoch) in the loop over epochs, before train.py:6",
        ("train.py:2", "train.py:3", "train.py:6"),
        Confidence.CONFIRMED,
        (0, 1),
    )


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        (("accelerate/data_loader.py:9", "lightning/pytorch/loops/fit_loop.py:4", "lightning/pytorch/trainer.py:2"),
         "write sampler.set_epoch(epoch) in on_train_epoch_start() of the module or a callback: lightning goes over "
         "the loader itself"),
        (("accelerate/data_loader.py:9", "transformers/trainer.py:4"),
         "write sampler.set_epoch(epoch) in on_epoch_begin() of a TrainerCallback: transformers goes over the loader "
         "itself"),
        (("accelerate/data_loader.py:9",),
         "call set_epoch(epoch) in the loop over epochs, before train.py:6, on the loader that accelerator.prepare() "
         "returned"),
        (("fastloop/run.py:9",),
         "write sampler.set_epoch(epoch) in a callback that is called before each epoch: fastloop goes over the loader "
         "itself"),
    ],
)  # fmt: skip
def test_under_a_trainer_the_fix_of_a_forgotten_set_epoch_is_said_of_where_it_lets_a_program_in(
    tmp_path: Path, path: tuple[str, ...], fix: str
) -> None:
    passes = [one_pass(n, ORDER, epoch=0, epoch_now=0) for n in range(2)]
    facts = {"sampler": "DistributedSampler", "shuffle": "1"}
    read = [source(*passes, at=f"{tmp_path}/train.py:3", sampler_at=f"{tmp_path}/train.py:2", **facts)]
    inside = (f"/env/lib/python3.11/site-packages/{place}" for place in path)
    iterated = made.event("loader-iter", "workers=0 dataset=Songs", *inside, f"{tmp_path}/train.py:6")
    match = epochs_repeat_order.match(a_job(tmp_path, read, read, events=[iterated]))
    assert match is not None
    assert match.finding.fix is not None
    assert match.finding.fix.text == fix


@pytest.mark.parametrize(
    ("program", "facts", "words"),
    [
        ("sampler: Sampler = DistributedSampler(songs)\nloader = DataLoader(songs, sampler=sampler)", {}, "sampler"),
        ("songs = Songs()\nself.loader = DataLoader(songs, sampler=own())", {}, "self.loader.sampler"),
        ("songs = Songs()\nloader = DataLoader(songs, batch_sampler=BatchSampler(own(), 4))",
         {"batch_size": "", "batch_sampler": "BatchSampler"}, "loader.batch_sampler.sampler"),
        ("songs = Songs()\nloader = DataLoader(songs, batch_sampler=Buckets())",
         {"batch_size": "", "batch_sampler": "Buckets", "sampler": "Buckets"}, "loader.batch_sampler"),
        ("songs = Songs()\nstep(DataLoader(songs, sampler=own()))", {}, "sampler"),
    ],
)  # fmt: skip
def test_the_sampler_is_called_as_the_program_can_reach_it(
    tmp_path: Path, program: str, facts: dict[str, str], words: str
) -> None:
    passes = [one_pass(n, ORDER, epoch=0, epoch_now=0) for n in range(2)]
    known = {"sampler": "DistributedSampler", "shuffle": "1", **facts}
    read = source(*passes, at=f"{tmp_path}/train.py:2", sampler_at=f"{tmp_path}/train.py:1", **known)
    read = replace(read, facts={name: value for name, value in read.facts.items() if value})
    job = made.a_job(rank(0, read), rank(1, read), code=0, cwd=tmp_path, files={"train.py": program})
    match = epochs_repeat_order.match(job)
    assert match is not None
    assert match.finding.fix is not None
    assert match.finding.fix.text == f"write {words}.set_epoch(epoch) before each epoch"


@pytest.mark.parametrize(("persistent", "told_of"), [("1", True), ("", False)])
def test_an_epoch_that_does_not_reach_persistent_workers_is_said(
    tmp_path: Path, persistent: str, told_of: bool
) -> None:
    facts = {"kind": "iterable", "workers": "2", "follows_epoch": "1", "persistent": persistent}
    read = source(*[one_pass(n, ORDER) for n in range(2)], at=f"{tmp_path}/train.py:3", **facts)
    match = epochs_repeat_order.match(a_job(tmp_path, [read], [read]))
    assert (match is not None) is told_of
    if match is not None:
        assert match.finding.title.endswith(
            "the workers of the loader of train.py:3 are kept from epoch to epoch (persistent_workers) with copies of "
            "the data set, which its set_epoch does not reach"
        )


def test_workers_that_read_a_whole_stream_are_said(tmp_path: Path) -> None:
    rows = [range(first, first + 2) for first in range(0, 20, 2) for _ in range(2)]
    log = tuple(batch(number, row) for number, row in enumerate(rows))
    read = [source(one_pass(0, range(40), log=log), at=f"{tmp_path}/train.py:3", kind="iterable", workers="2")]
    title, _, lines, sure, ranks = told(workers_repeat_samples.match(a_job(tmp_path, read)))
    assert (title, lines, sure, ranks) == (
        "Rank 0 trains on every sample 2 times in an epoch: each of the 2 workers of the loader of train.py:3 reads "
        "all of Songs",
        ("train.py:3",), Confidence.CONFIRMED, (0,),
    )  # fmt: skip


def test_validation_on_training_samples_is_said(tmp_path: Path) -> None:
    seen = one_pass(0, ORDER[:24], steps=0, trained=0, trained_batches=False)
    read = [source(one_pass(0, ORDER), at=f"{tmp_path}/train.py:3"), source(seen, at=f"{tmp_path}/train.py:4")]
    assert told(validation_on_training_samples.match(a_job(tmp_path, read))) == (
        "val_loader of train.py:4 hands over training samples: 24 of its 24 samples are also trained on by the loader "
        "of train.py:3",
        "give val_loader the split that was held out, not songs",
        ("train.py:4", "train.py:3"), Confidence.LIKELY, (0,),
    )  # fmt: skip


def test_a_generator_that_workers_share_is_said_with_the_line_that_makes_it(tmp_path: Path) -> None:
    owner = rank(0, source(one_pass(0, ORDER), at=f"{tmp_path}/train.py:3", workers="2"), events=[
        made.event("dataloader", "DataLoader", f"{tmp_path}/train.py:3"),
    ])  # fmt: skip
    told_by = [made.event("worker-random", f"worker={n} workers=2 dataset=Songs rng:0a") for n in range(2)]
    children = [
        made.a_process(200 + n, part=ProcessRole.DATA_WORKER, parent_pid=100, agent=made.agent(one, pid=200 + n))
        for n, one in enumerate(told_by)
    ]
    job = made.a_job(owner, *children, code=0, cwd=tmp_path, files={"train.py": PROGRAM})
    title, _, lines, sure, ranks = told(workers_share_random.match(job))
    assert (title, lines, sure, ranks) == (
        "All 2 workers of rank 0 draw the same random numbers: Songs.rng made at train.py:10 begins in one state in "
        "each of them",
        ("train.py:10", "train.py:3"), Confidence.LIKELY, (0,),
    )  # fmt: skip
