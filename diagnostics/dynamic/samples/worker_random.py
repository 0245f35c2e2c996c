"""Workers of one rank that draw the same random numbers for what they do to the samples. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.samples.training_passes import RankLoader, training_loaders
from diagnostics.static.program.ast_walk import walk

_NOISE = "normal|standard_normal|lognormal|laplace|uniform|gauss|normalvariate|beta|gumbel|poisson|randn"
_MAKERS = frozenset(["default_rng", "RandomState", "Random", "Generator", "PCG64", "Philox", "MT19937"])
OWN = ("random", "numpy.random", "torch")  # of the process; all else is held by the data set


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGenerator:
    """A generator that is in one state in several workers of a rank, and is drawn from for each batch."""

    loaders: tuple[RankLoader, ...]  # one a rank
    name: str  # "random", "numpy.random", "torch", or the attribute of the data set: "noise.rng"
    dataset: str
    states: tuple[tuple[int, str], ...]  # (worker, state) of the first rank
    made_at: Frame | None  # where the data set makes it


def shared_generator(job: Job) -> SharedGenerator | None:
    """Returns the generator that workers share, on all ranks where they do; None where each has its own."""
    found = [one for process in job.ranks for loader in training_loaders(process) if (one := _of(job, loader))]
    if not found:
        return None
    first = found[0]
    alike = [one for one in found if (one.name, one.dataset) == (first.name, first.dataset)]
    return SharedGenerator(
        loaders=tuple({one.loaders[0].rank: one.loaders[0] for one in alike}.values()),
        name=first.name,
        dataset=first.dataset,
        states=first.states,
        made_at=first.made_at,
    )


def _of(job: Job, loader: RankLoader) -> SharedGenerator | None:
    facts = loader.source.facts
    stream = facts.get("kind") == "iterable"
    if facts.get("kind") not in ("map", "iterable") or (loader.source.number("workers") or 0) < 2:
        return None
    told: dict[str, dict[int, str]] = {}
    for child in job.children_of(loader.process):
        for worker, states in _told(child, facts.get("dataset", ""), facts.get("workers", "")):
            for name, state in states.items():
                told.setdefault(name, {}).setdefault(worker, state)  # of its first epoch
    for name, by_worker in sorted(told.items()):
        alike = len(by_worker) > 1 and len(set(by_worker.values())) == 1
        if alike and (not stream or _makes_noise(job, name)):
            return SharedGenerator(
                loaders=(loader,),
                name=name,
                dataset=facts.get("dataset", ""),
                states=tuple(sorted(by_worker.items())),
                made_at=None if name in OWN else _made_at(job, facts.get("dataset", ""), name.rpartition(".")[2]),
            )
    return None


def _makes_noise(job: Job, name: str) -> bool:
    """Whether a generator that a stream holds makes real numbers: workers may shuffle and choose alike, each its own.

    What workers add to different samples is another thing than the order in which they read them.
    """
    attribute = re.escape(name.rpartition(".")[2])
    drawn = re.compile(
        rf"\.{attribute}\.(?:{_NOISE})\(|\b(?:randn|rand|normal|normal_|uniform_)\(.*\bgenerator\s*=\s*[\w.]*\b{attribute}\b"
    )
    return name not in OWN and any(drawn.search(line) for _, file in job_sources(job) for line in file.lines)


def draws_samples(job: Job, loader: RankLoader) -> bool:
    """Whether random numbers of the process are drawn for each batch of a loader, by itself or in a worker."""
    facts = loader.source.facts
    told = [
        states
        for process in (loader.process, *job.children_of(loader.process))
        for _, states in _told(process, facts.get("dataset", ""), facts.get("workers", ""))
    ]
    return any(name in OWN for states in told for name in states)


def _told(child: JobProcess, dataset: str, workers: str) -> list[tuple[int, dict[str, str]]]:
    found = []
    for event in child.agent.events if child.agent is not None else ():
        words = event.text.split()
        if event.kind != "worker-random" or f"dataset={dataset}" not in words or f"workers={workers}" not in words:
            continue
        worker = words[0].removeprefix("worker=")
        states = dict(word.rpartition(":")[::2] for word in words[3:])
        if worker.isdecimal() and len(worker) < 6:
            found.append((int(worker), states))
    return found


def _made_at(job: Job, dataset: str, attribute: str) -> Frame | None:
    """Returns where `self.attribute = ...` stands, in the class of the data set first; what it is given is made before.

    Where a class only keeps the generator that it was handed, the line that makes one of that name comes first.
    """
    found, made = [], []
    for name, file in job_sources(job):
        nodes = list(walk(file.tree)) if file.tree is not None else []
        for owner in sorted(_classes_in(nodes), key=lambda node: node.name != dataset):
            found += [
                (owner.name != dataset, Frame(file=name, line=node.lineno, function=owner.name), node.value)
                for node in walk(owner)
                if isinstance(node, ast.Assign) and f"self.{attribute}" in map(ast.unparse, node.targets)
            ]
        made += [
            (node.targets[0].id, Frame(file=name, line=node.lineno, function=""))
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _makes_generator(node.value)
        ]
    if not found:
        return None
    _, place, value = min(found, key=lambda one: one[0])
    handed = value.id if isinstance(value, ast.Name) else None
    return next((frame for name, frame in made if name == handed), place)


def _classes_in(nodes: list[ast.AST]) -> list[ast.ClassDef]:
    """Returns the classes among them."""
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _makes_generator(value: ast.expr) -> bool:
    """Whether it calls what makes a generator, also with a seed set at once: `torch.Generator().manual_seed(3)`."""
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _MAKERS for node in ast.walk(value)
    )
