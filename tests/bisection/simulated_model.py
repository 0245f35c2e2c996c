"""A model that is never built and ranks that are never started: what a case gives follows from rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.search.suspicion import parent_of
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, OutOfTries, Trial

CRASH = Failure(
    kind=FailureKind.SIGNAL, detail="SIGSEGV", places=("model.py:31 forward",), phase="forward", step=1, ranks=(0,)
)
OTHER = Failure(
    kind=FailureKind.EXCEPTION, detail="RuntimeError", message="shapes # and # do not match", phase="forward"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is there in one try."""

    settings: RunSettings
    intact: frozenset[str]  # modules whose own code runs
    alone: str | None


Rule = Callable[[Run], Failure | None]


class Simulated:
    """An oracle. `poison`: stand-ins for these break what comes after them."""

    def __init__(
        self, nodes: Sequence[ModuleNode], rule: Rule, *, poison: Collection[str] = (), most: int | None = None
    ) -> None:
        self.nodes, self.rule, self.poison, self.most = tuple(nodes), rule, set(poison), most
        self.known: dict[str, Trial] = {}
        self.asked: list[str] = []

    @property
    def tries(self) -> int:
        return len(self.asked)

    def ask(self, case: Configuration, why: str) -> Trial:
        if case.key not in self.known:
            if self.most is not None and self.tries >= self.most:
                raise OutOfTries
            self.asked.append(why)
            self.known[case.key] = self.run(case)
        return self.known[case.key]

    def ask_all(self, cases: Sequence[tuple[Configuration, str]]) -> list[Trial]:
        return [self.ask(case, why) for case, why in cases]

    def run(self, case: Configuration) -> Trial:
        fixed = [node.path for node in self.nodes if not node.replaceable]
        wrong = [path for path in case.edits.stand_ins if path in fixed]
        if wrong:
            return Trial(case=case, refusal=f"what {wrong[0]} gives is not known")
        gone = self.below(case.edits.stand_ins)
        there = self.below([case.edits.alone]) if case.edits.alone is not None else {node.path for node in self.nodes}
        run = Run(settings=case.settings, intact=frozenset(there - gone), alone=case.edits.alone)
        failure = self.rule(run)
        if failure is None and self.poison & gone:
            failure = OTHER
        plain = not case.edits.stand_ins and case.edits.alone is None
        return Trial(case=case, failure=failure, failed=int(failure is not None), tree=self.nodes if plain else ())

    def below(self, tops: Collection[str]) -> set[str]:
        return {
            node.path
            for node in self.nodes
            for path in (node.path, *node.also)
            for top in tops
            if top in ("", path) or path.startswith(f"{top}.")
        }


def job_from_record(**settings: object) -> Configuration:
    return Configuration(source=Source(factory="model.py:make"), settings=replace(RunSettings(), **settings))  # type: ignore[arg-type]


def random_nodes(seed: int, count: int) -> list[ModuleNode]:
    """A tree of so many modules, bushy or deep."""
    rng = random.Random(seed)
    reach = rng.choice([3, 10, count])
    nodes = [ModuleNode(path="", class_name="Net", place="model.py:1", calls=1, entered=1)]
    for number in range(1, count):
        parent = rng.choice(nodes[-reach:]).path
        path = f"{parent}.m{number}".removeprefix(".")
        kind = rng.choice(["Block", "Attention", "Mlp"])
        place = {"Block": "model.py:100", "Attention": "model.py:200", "Mlp": "model.py:300"}[kind]
        nodes.append(ModuleNode(path=path, class_name=kind, place=place, calls=1, entered=1))
    order = {node.path: place for place, node in enumerate(nodes)}
    return sorted(nodes, key=lambda node: [order[one] for one in _chain(node.path, order)])


def _chain(path: str, known: Collection[str]) -> list[str]:
    chain, here = [path], parent_of(path, known)
    while here is not None:
        chain.append(here)
        here = parent_of(here, known)
    return chain[::-1]


def needs(*paths: str, failure: Failure = CRASH) -> Rule:
    """Fails where all of these run."""
    return lambda run: failure if set(paths) <= run.intact else None
