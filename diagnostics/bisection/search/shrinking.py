"""Makes a failing case smaller once its module is known: fewer layers, and a smaller batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.search.delta_debugging import Answer, minimal_subset
from diagnostics.bisection.search.removals import answer
from diagnostics.bisection.search.suspicion import parent_of
from diagnostics.bisection.trial import Failure, ModuleNode, Oracle, OutOfTries, Trial

BATCHES = (1, 2)
BUILDING = ("import", "group", "construct")  # what fails there never sees a batch, nor the edited model


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest case that still fails in the same way, and what was taken away."""

    minimal: Trial
    steps: tuple[str, ...] = ()  # "layers: 1 of 12 kept"
    tries: int = 0


def shrink(oracle: Oracle, failing: Trial, tree: Sequence[ModuleNode], *, tries: int = 24) -> Shrunk:
    """Returns a case with fewer layers and a smaller batch that fails like `failing`, within so many tries.

    `tree` is the model's. Raises ValueError where `failing` has no failure.
    """
    if failing.failure is None:
        raise ValueError("a case that does not fail cannot be made smaller")
    if failing.failure.phase in BUILDING:
        return Shrunk(minimal=failing)
    work = _Shrinking(oracle, failing, failing.failure, tries)
    for path, places in _containers(failing.case, tree):
        work.cut(path, places)
    work.batch()
    return Shrunk(minimal=work.minimal, steps=tuple(work.steps), tries=tries - work.left)


class _Shrinking:
    def __init__(self, oracle: Oracle, failing: Trial, failure: Failure, tries: int) -> None:
        self._oracle, self._failure = oracle, failure
        self.minimal, self.left = failing, tries
        self.steps: list[str] = []
        self._known: dict[str, Trial] = {failing.case.key: failing}

    def cut(self, path: str, places: int) -> None:
        """Keeps as few modules of a container as the failure needs."""

        def ask(kept: tuple[int, ...]) -> Answer:
            trial = self._try(
                _cut(self.minimal.case, path, kept), f"{path or 'the model'}: {len(kept)} of {places} kept"
            )
            return answer(trial, self._failure) if trial is not None else Answer.UNCLEAR

        kept = minimal_subset(range(places), ask)
        if len(kept) < places and self._take(_cut(self.minimal.case, path, kept), path):
            self.steps.append(f"{path or 'the model'}: {len(kept)} of {places} kept")

    def batch(self) -> None:
        """Keeps the fewest items of a batch that fail."""
        for size in BATCHES:
            if self._take(self.minimal.case.edit(batch=size), f"batch of {size}"):
                self.steps.append(f"a batch of {size}")
                return

    def _take(self, case: Configuration, why: str) -> bool:
        trial = self._try(case, why)
        if trial is None or not trial.shows(self._failure):
            return False
        self.minimal = trial
        return True

    def _try(self, case: Configuration, why: str) -> Trial | None:
        """Returns what the case gives, None where no tries are left; one that was tried costs none."""
        if case.key in self._known:
            return self._known[case.key]
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            self._known[case.key] = self._oracle.ask(case, why)
        except OutOfTries:
            self.left = 0
            return None
        return self._known[case.key]


def _cut(case: Configuration, path: str, kept: tuple[int, ...]) -> Configuration:
    others = [pair for pair in case.edits.cuts if pair[0] != path]
    return case.edit(cuts=tuple(sorted([*others, (path, kept)])))


def _containers(case: Configuration, tree: Sequence[ModuleNode]) -> list[tuple[str, int]]:
    """Returns the containers of what the case runs, with how many modules each holds; the largest first."""
    alone = case.edits.alone or ""
    inside = [node for node in tree if node.path == alone or node.path.startswith(f"{alone}." if alone else "")]
    known = {node.path for node in inside}
    gone = case.edits.stand_ins
    left = [node for node in inside if not any(_holds(path, node.path) for path in gone)]
    found = [
        (node.parameters, node.path, sum(parent_of(one.path, known) == node.path for one in inside))
        for node in left
        if node.container
    ]
    return [(path, places) for _, path, places in sorted(found, reverse=True) if places > 1]


def _holds(path: str, other: str) -> bool:
    return other == path or other.startswith(f"{path}.") or path == ""
