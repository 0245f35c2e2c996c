"""Asks what a failing case gives without some of its modules, and what one of them gives alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import listed
from diagnostics.bisection.search.part_tree import PartTree
from diagnostics.bisection.trial import Failure, Oracle, Trial


class Removals:
    """Modules are named by path; one that is taken out becomes a stand-in, and with it all below it."""

    def __init__(self, oracle: Oracle, failing: Trial, failure: Failure, tree: PartTree) -> None:
        self._oracle = oracle
        self._failing = failing
        self._failure = failure
        self._tree = tree
        self.unneeded: frozenset[str] = frozenset()  # the most that was taken out while it still failed

    def ask(self, removed: Collection[str], *, alone: str | None = None) -> Answer:
        """Returns whether the failure is still there without these, in the model or in one module of it run alone."""
        said = self.answer(self.trial(removed, alone=alone))
        if alone is None and said is Answer.FAILS and self._size(removed) > self._size(self.unneeded):
            self.unneeded = frozenset(removed)
        return said

    def trial(self, removed: Collection[str], *, alone: str | None = None) -> Trial:
        """Returns what the model, or one module of it run alone, gives without these."""
        if not removed:
            return self._failing if alone is None else self.alone(alone)
        case = self.case(removed) if alone is None else self.case(removed).edit(alone=alone)
        why = without(self._tree.roots(removed))
        return self._learned(self._oracle.ask(case, why if alone is None else f"{alone} alone, {why}"))

    def alone(self, path: str) -> Trial:
        """Returns what one module gives, run by itself on the inputs it is given in the model."""
        if path == self._tree.root:
            return self._failing
        return self._oracle.ask(self.case_alone(path), f"{path} alone")

    def both(self, path: str) -> tuple[Trial, Trial]:
        """Returns the model without one module, and this module alone, tried side by side."""
        if path == self._tree.root:
            return self.trial([path]), self._failing
        asked = [(self.case([path]), without([path])), (self.case_alone(path), f"{path} alone")]
        removed, alone = self._oracle.ask_all(asked)
        return self._learned(removed), alone

    def case(self, removed: Collection[str]) -> Configuration:
        """Returns the failing case with stand-ins for these."""
        return self._failing.case.without(*self._tree.roots(removed))

    def case_alone(self, path: str) -> Configuration:
        """Returns the failing case with only this module."""
        return self._failing.case.edit(alone=path)

    def answer(self, trial: Trial) -> Answer:
        """Returns what a trial says of the failure looked for."""
        return answer(trial, self._failure)

    def _size(self, removed: Collection[str]) -> int:
        return len(self._tree.covered(removed))

    def _learned(self, trial: Trial) -> Trial:
        """Notes which modules can be replaced now that a run came further."""
        for node in trial.tree:
            if node.replaceable and node.path in self._tree.parts:
                self._tree.allow(node.path)
        return trial


def answer(trial: Trial, failure: Failure) -> Answer:
    """Returns what a trial says of a failure."""
    if trial.shows(failure):
        return Answer.FAILS
    return Answer.PASSES if trial.passed else Answer.UNCLEAR


def without(paths: Iterable[str]) -> str:
    """Returns what is tried, in words."""
    return f"without {listed(sorted(paths))}"
