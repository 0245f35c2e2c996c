"""Finds the module whose constructor fails, or whose parameters cannot be moved or wrapped: it is not built."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import FailureRelation, ModuleFound, told
from diagnostics.bisection.search.narrowing import bisect_tree
from diagnostics.bisection.search.part_tree import PartTree, TreeNode
from diagnostics.bisection.search.suspicion import parent_of
from diagnostics.bisection.trial import PHASES, Failure, ModuleNode, Oracle, Trial

CONSTRUCTING = ("construct", "move", "wrap")
MOST_INSTANCES = 64  # of a class whose every constructor fails


def search_constructors(oracle: Oracle, failing: Trial, failure: Failure) -> ModuleFound:
    """Returns the module without whose constructor the failure is gone."""
    built = [node for node in failing.tree if node.path or not node.inside]
    if failure.phase == "construct" or len(built) < len(failing.tree):
        return _open_one(oracle, failing, failure)
    return _Built(oracle, failing, failure).run() if failing.tree else ModuleFound(minimal=failing, undecided=NO_TREE)


NO_TREE = "no run came far enough to tell which modules the model has"


def answer_past(trial: Trial, failure: Failure) -> Answer:
    """Returns what a trial says of a failure; a model that is not whole may fail in a later phase."""
    if trial.shows(failure):
        return Answer.FAILS
    if trial.failure is None:
        return Answer.UNCLEAR if trial.refusal else Answer.PASSES
    return Answer.PASSES if _order(trial.failure.phase) > _order(failure.phase) else Answer.UNCLEAR


def _order(phase: str) -> int:
    # The rank tells in which order it goes: the group comes before the model, the batch after it.
    return PHASES.index(phase) if phase in PHASES else len(PHASES)


# ------------------------------------------------------------------------------------- the constructor that was open


def _open_one(oracle: Oracle, failing: Trial, failure: Failure) -> ModuleFound:
    """Of the constructors that were open, the innermost without which it does not fail."""
    for name in _open(failing.tree):
        trial = oracle.ask(failing.case.edit(not_built=(name,)), f"without the constructor of {name}")
        if answer_past(trial, failure) is not Answer.FAILS:
            return _named(failing, trial, [name], heals=_heals(trial, failure))
        if next(_open(trial.tree), name).rpartition("#")[0] == name.rpartition("#")[0] != "":
            moved = next(_open(trial.tree), name)
            if moved != name:
                return _every(oracle, failing, failure, name)
    if not failing.tree:
        return ModuleFound(minimal=failing, outside="it fails before any module is constructed")
    return ModuleFound(minimal=failing, outside="it fails in the factory, also where no constructor of a module runs")


def _open(nodes: Sequence[ModuleNode]) -> Iterator[str]:
    """Yields the constructors that never came to their end, the innermost first."""
    inside = {node.built_as: node.inside for node in nodes}
    name = next((node.built_as for node in reversed(nodes) if not node.built), "")
    while name:
        yield name
        name = inside.get(name, "")


def _every(oracle: Oracle, failing: Trial, failure: Failure, name: str) -> ModuleFound:
    """Without this one, the next of its class fails."""
    kind, _, first = name.rpartition("#")
    names = [f"{kind}#{number}" for number in range(int(first), int(first) + MOST_INSTANCES)]
    trial = oracle.ask(failing.case.edit(not_built=tuple(names)), f"without any constructor of {kind}")
    if answer_past(trial, failure) is Answer.FAILS:
        return ModuleFound(minimal=failing, undecided=f"it fails in {name}, and without it elsewhere, too")
    there = [one for one in names if any(node.built_as == one for node in trial.tree)]
    return _named(failing, trial, there or [name], heals=_heals(trial, failure), relation=FailureRelation.EACH)


def _heals(trial: Trial, failure: Failure) -> bool | None:
    return True if answer_past(trial, failure) is Answer.PASSES else None


def _named(
    failing: Trial,
    trial: Trial,
    names: Sequence[str],
    *,
    heals: bool | None,
    relation: FailureRelation = FailureRelation.ONE,
) -> ModuleFound:
    """Returns the answer by path, where a run came far enough to tell it; by class and number else."""
    paths = {node.built_as: node.path for node in trial.tree if node.built_as and (node.path or not node.inside)}
    modules = tuple(paths.get(name, name) for name in names)
    nodes = trial.tree if names[0] in paths else failing.tree
    about = next((node for node in nodes if node.built_as == names[0]), None)
    sentence = f"without the constructor of {names[0]} it goes on"
    if heals is None and trial.failure is not None:
        sentence = f"without the constructor of {names[0]} this failure is gone, and {trial.failure.detail} comes"
    known = [node for node in nodes if names[0] in paths]
    tree = _tree(known) if known else None
    found = ModuleFound(
        minimal=failing,
        modules=modules,
        relation=relation if len(modules) > 1 else FailureRelation.ONE,
        heals=heals,
        notes=() if names[0] in paths else ("the model is never built to its end: the module is told by its class",),
    )
    if tree is not None:
        found = told(found, known, tree, gone=(), tried=())
    return _about(found, about, sentence)


def _about(found: ModuleFound, node: ModuleNode | None, sentence: str) -> ModuleFound:
    return replace(
        found,
        class_name=node.class_name if node is not None else "",
        place=node.place if node is not None else "",
        evidence=(*found.evidence, sentence),
    )


def _tree(nodes: Sequence[ModuleNode]) -> PartTree:
    paths = {node.path for node in nodes}
    return PartTree(
        [TreeNode(name=node.path, parent=parent_of(node.path, paths), removable=bool(node.built_as)) for node in nodes]
    )


# ------------------------------------------------------------------------- a model that is built and cannot be wrapped


class _Built:
    """Halves the modules; one that is not built has neither parameters nor buffers nor children."""

    def __init__(self, oracle: Oracle, failing: Trial, failure: Failure) -> None:
        self._oracle, self._failing, self._failure = oracle, failing, failure
        self._nodes = failing.tree
        self._tree = _tree(self._nodes)
        self._names = {node.path: node.built_as for node in self._nodes}

    def run(self) -> ModuleFound:
        found = bisect_tree(self._tree, self.ask)
        if not found.suspects:
            return self._told(ModuleFound(minimal=self._failing, outside="it fails with none of its modules built"))
        if len(found.suspects) > 1 or not found.heals:
            shown = ", ".join(name or "the model itself" for name in found.suspects)
            return self._told(ModuleFound(minimal=self._failing, undecided=f"these could not be told apart: {shown}"))
        return self._judged(found.suspects[0], found.gone)

    def ask(self, removed: Collection[str]) -> Answer:
        return answer_past(self.trial(removed), self._failure) if removed else Answer.FAILS

    def trial(self, removed: Collection[str]) -> Trial:
        roots = self._tree.roots(removed)
        case = self._failing.case.edit(not_built=self._renumbered(roots))
        return self._oracle.ask(case, f"without the constructor of {', '.join(sorted(roots)[:3])}")

    def _renumbered(self, roots: Collection[str]) -> tuple[str, ...]:
        """Returns the names in a model where what is below the others is not built, and does not count."""
        missing = {self._names[name] for name in self._tree.covered(roots) - set(roots)}
        renumbered = []
        for name in roots:
            kind, _, number = self._names[name].rpartition("#")
            before = sum(f"{kind}#{earlier}" in missing for earlier in range(int(number)))
            renumbered.append(f"{kind}#{int(number) - before}")
        return tuple(sorted(renumbered))

    def _judged(self, suspect: str, gone: Collection[str]) -> ModuleFound:
        without = self.ask([suspect])
        alone = self._oracle.ask(self._failing.case.edit(alone=suspect), f"{suspect or 'the model'} alone")
        fails = alone.shows(self._failure)
        found = ModuleFound(
            minimal=alone if fails else self._failing,
            modules=(suspect,),
            heals={Answer.PASSES: True, Answer.FAILS: False}.get(without),
            fails_alone=True if fails else (False if alone.passed else None),
        )
        return self._told(found, gone)

    def _told(self, found: ModuleFound, gone: Collection[str] = ()) -> ModuleFound:
        tried = (self.trial(found.modules), found.minimal) if found.modules else ()
        return told(found, self._nodes, self._tree, gone=tuple(gone), tried=tried)
