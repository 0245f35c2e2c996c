"""Where in a model a failure comes from, with what was tried and what that gave. Data, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnostics.bisection.found import Mark, TreeRow
from diagnostics.bisection.search.part_tree import PartTree
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial

MODEL = "the model itself"


class FailureRelation(StrEnum):
    """How several modules belong to one failure."""

    ONE = "one"
    TOGETHER = "together"  # it takes all of them
    EACH = "each"  # any of them alone fails: as a rule, every instance of one class


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFound:
    """Where the failure comes from. `modules` is empty where `outside` or `undecided` says why.

    "" is the model itself: its own forward, not one of its children. `within` is the smallest module that fails
    alone and holds all of `modules`, None where nothing smaller than the model does. `minimal` fails in the same
    way with all stand-ins that may be there, or runs the module alone.
    """

    minimal: Trial
    modules: tuple[str, ...] = ()
    relation: FailureRelation = FailureRelation.ONE
    within: str | None = None
    outside: str = ""
    undecided: str = ""
    heals: bool | None = None  # the whole model without it passes; None: could not be tried
    fails_alone: bool | None = None  # alone, or with everything else replaced, it fails in the same way
    class_name: str = ""
    place: str = ""
    tree: tuple[TreeRow, ...] = ()
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def told(
    found: ModuleFound, nodes: Sequence[ModuleNode], tree: PartTree, *, gone: Sequence[str], tried: Sequence[Trial]
) -> ModuleFound:
    """Returns the answer with the module's class, the marked tree, and a sentence for each of the telling tries."""
    by_path = {node.path: node for node in nodes}
    named = [by_path[path] for path in found.modules if path in by_path]
    told_of = named if found.relation is FailureRelation.TOGETHER else named[:1]
    return replace(
        found,
        class_name=" with ".join(dict.fromkeys(node.class_name for node in told_of)),
        place=named[0].place if named else "",
        tree=tuple(_rows(found, nodes, tree, gone)),
        evidence=tuple(dict.fromkeys(_sentence(trial, found.minimal.failure) for trial in tried)),
    )


def _rows(found: ModuleFound, nodes: Sequence[ModuleNode], tree: PartTree, gone: Sequence[str]) -> Iterator[TreeRow]:
    passes = tree.covered(gone)
    holding = {above for name in found.modules for above in tree.above(name)}
    for node in nodes:
        mark = Mark.PASSES if node.path in passes else Mark.NOT_TRIED
        mark = Mark.FAILS if node.path in holding else mark
        mark = Mark.CULPRIT if node.path in found.modules else mark
        yield TreeRow(
            path=node.path, class_name=node.class_name, mark=mark, parameters=node.parameters, place=node.place
        )


def _sentence(trial: Trial, failure: Failure | None) -> str:
    """Returns what one try showed: "without blocks.3 the model passes"."""
    edits = trial.case.edits
    ran = f"{edits.alone or MODEL} alone" if edits.alone is not None else "the model"
    removed = [*edits.stand_ins, *(f"the constructor of {name}" for name in edits.not_built)]
    if "" in edits.stand_ins:
        return f"a stand-in for the whole model {_verb(trial, failure)}"
    subject = f"without {listed(removed)} {ran}" if removed else ran
    return f"{subject} {_verb(trial, failure)}"


def _verb(trial: Trial, failure: Failure | None) -> str:
    times = f", {trial.failed or trial.runs} of {trial.runs} times" if trial.runs > 1 else ""
    if trial.refusal:
        return f"cannot be run: {trial.refusal}"
    if trial.failure is None:
        return f"passes{times}"
    if failure is not None and trial.shows(failure):
        return f"fails in the same way{times}"
    return f"fails in another way: {shortly(trial.failure)}{times}"


def shortly(failure: Failure) -> str:
    """Returns a failure in few words."""
    what = "no end in time" if failure.kind is FailureKind.HANG else failure.detail
    return f"{what}{f' in {failure.phase}' if failure.phase else ''}"


def listed(paths: Sequence[str]) -> str:
    """Returns the first few of these."""
    names = [path or MODEL for path in paths]
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
