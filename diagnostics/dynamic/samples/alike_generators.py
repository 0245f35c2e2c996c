"""Generators of the program that give ranks which train one model the same numbers, though the ranks are seeded apart.

Pure. Equal seeds alone say nothing: weights, orders of samples and decisions of all ranks are drawn alike on purpose.
That ranks mean to draw apart shows where their processes are given seeds of their own and numbers are drawn in the
shape of what each reads, or where this very generator was in another state on each before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.samples.gradient_sharing import sharing_pairs
from diagnostics.record.marks.object_marks import Generators, HeldGenerator
from diagnostics.static.torch_code.random_draws import Draw, draws_from

MOST_PAIRS = 64
MOST_SEED = 1 << 40  # torch draws its own with 64 bits, where a program gives none
LEAST_LOOKS = 2  # of three steps each


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeGenerator:
    """One generator that is in one state on two ranks, step after step."""

    pair: tuple[JobProcess, JobProcess]
    held: HeldGenerator
    steps: tuple[int, ...]  # of the looks at which the states were equal
    apart: int | None  # the last look before, at which they differed
    seeds: tuple[int | None, int | None]  # of the processes
    draws: tuple[Frame, ...]


def alike_generator(job: Job) -> AlikeGenerator | None:
    """Returns the first that two ranks draw alike from, None where none is or where it may be meant."""
    for one, other, _ in islice(sharing_pairs(job), MOST_PAIRS):
        for found in _alike(job, one, other):
            return found
    return None


def _alike(job: Job, one: JobProcess, other: JobProcess) -> Iterator[AlikeGenerator]:
    theirs = {look.step: look for look in other.prints.marks_of(Generators)}
    looks = [(look, theirs[look.step]) for look in one.prints.marks_of(Generators) if look.step in theirs]
    equal: dict[str, list[int]] = {}
    apart: dict[str, int] = {}
    latest: dict[str, HeldGenerator] = {}
    for mine, its in looks:
        states = {held.path: held.states for held in its.held}
        for held in mine.held:
            if held.path not in states or not held.states:
                continue
            latest[held.path] = held
            if held.states == states[held.path]:
                equal.setdefault(held.path, []).append(mine.step)
            else:
                apart[held.path] = mine.step
                equal.pop(held.path, None)
    seeds = (looks[-1][0].seed, looks[-1][1].seed) if looks else (None, None)
    for path, steps in equal.items():
        before = apart.get(path)
        if before is None and (len(steps) < LEAST_LOOKS or not _are_given_apart(seeds)):
            continue
        draws = _draws(job, one, latest[path].name, shaped=before is None)
        if draws:
            yield AlikeGenerator(
                pair=(one, other), held=latest[path], steps=tuple(steps), apart=before, seeds=seeds, draws=draws
            )


def _are_given_apart(seeds: tuple[int | None, int | None]) -> bool:
    one, other = seeds
    return one is not None and other is not None and one != other and max(one, other) < MOST_SEED


def _draws(job: Job, process: JobProcess, name: str, *, shaped: bool) -> tuple[Frame, ...]:
    """Returns the lines that draw from it, () where one of them orders samples or may be meant to be alike."""
    files = [(file_name, file.tree) for file_name, file in job_sources(job, process) if file.tree is not None]
    found: list[tuple[int, Draw]] = list(draws_from(name, [tree for _, tree in files]))
    if any(draw.orders or (shaped and draw.meant) for _, draw in found):
        return ()
    if shaped and not any(draw.shaped for _, draw in found):
        return ()
    found.sort(key=lambda pair: not pair[1].shaped)
    return tuple(Frame(file=files[number][0], line=draw.line, function=draw.function) for number, draw in found)
