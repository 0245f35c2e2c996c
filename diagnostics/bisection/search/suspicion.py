"""Which modules a failure may come from, and how likely each one is before anything was tried. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from diagnostics.bisection.failure_identity import CALLED_FROM
from diagnostics.bisection.search.part_tree import PartTree, TreeNode
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial

CONTAINER_WEIGHT = 0.05  # a Sequential has no code of its own
LIBRARY_WEIGHT = 0.5  # torch's own classes are tried by more people
WRAPPED = ("module", "_orig_mod", "_fsdp_wrapped_module", "_forward_module", "_checkpoint_wrapped_module")
NEVER_USED = re.compile(r"finished reduction|did not receive grad|not used in producing loss|unused parameter")
PLACE = re.compile(r"(.+):(\d+)")


def known_modules(failing: Trial, healthy: Trial | None) -> tuple[ModuleNode, ...]:
    """Returns the model's modules as the run that came further saw them."""
    other = healthy.tree if healthy is not None else ()
    return max(other, failing.tree, key=lambda nodes: (len(nodes), sum(node.replaceable for node in nodes)))


def part_tree(nodes: Sequence[ModuleNode], failing: Trial) -> PartTree:
    """Returns the modules as parts, by path; half of all weight is on what the failure itself points at."""
    weights = {node.path: _weight(node) for node in nodes}
    pointed = pointed_at(nodes, failing)
    total = sum(weights.values())
    for path in pointed:
        weights[path] += total / len(pointed)
    return PartTree([_part(node, weights) for node in nodes])


def _part(node: ModuleNode, weights: Mapping[str, float]) -> TreeNode:
    """Returns a module as a part; one that several modules hold lies below what holds them all."""
    held = [parent_of(path, weights) for path in (node.path, *node.also)]
    holders = tuple(dict.fromkeys(one for one in held if one is not None))
    return TreeNode(
        name=node.path,
        parent=_common(holders, weights) if holders else None,
        holders=holders if len(holders) > 1 else (),
        weight=weights[node.path],
        removable=node.replaceable,
    )


def _common(holders: Sequence[str], known: Collection[str]) -> str:
    """Returns the nearest known module at or above all of these."""
    first = holders[0]
    while not all(holder == first or holder.startswith(f"{first}." if first else "") for holder in holders):
        first = parent_of(first, known) or ""
    return first


def pointed_at(nodes: Sequence[ModuleNode], failing: Trial) -> tuple[str, ...]:
    """Returns the module that was open, else those of the class whose code was, else what a message means."""
    failure = failing.failure
    if failure is None:
        return ()
    opened = open_module(nodes, failure)
    if opened is not None:
        return (opened,)
    coded = _of_that_code(nodes, failure.places)
    unused = NEVER_USED.search(f"{failure.message}\n{failure.text}")
    return coded or (_with_unused(nodes) if unused else ())


def open_module(nodes: Sequence[ModuleNode], failure: Failure) -> str | None:
    """Returns the path of the module that was open when it failed, None where no module of the model was."""
    if failure.module is None:
        return None
    path = ".".join(part for part in failure.module.split(".") if part not in WRAPPED)
    paths = {node.path for node in nodes}
    return next((one for one in (failure.module, path) if one in paths), None)


def never_reached(failing: Trial) -> frozenset[str]:
    """Returns the modules that a failure in the first forward pass came before."""
    failure, reached = failing.failure, {node.path for node in failing.tree if node.entered}
    if failure is None or "" not in reached or failure.phase != "forward" or failure.step > 1 or 0 not in failure.ranks:
        return frozenset()
    if failure.kind in (FailureKind.HANG, FailureKind.DISAGREE):  # another rank may have come further
        return frozenset()
    return frozenset(node.path for node in failing.tree if node.path not in reached)


def _weight(node: ModuleNode) -> float:
    if node.container:
        return CONTAINER_WEIGHT
    return 1.0 if node.place else LIBRARY_WEIGHT


def parent_of(path: str, known: Collection[str]) -> str | None:
    """Returns the nearest module above that is known: a ModuleList may be missing."""
    while path:
        path = path.rpartition(".")[0]
        if path in known:
            return path
    return None


def _of_that_code(nodes: Sequence[ModuleNode], places: Sequence[str]) -> tuple[str, ...]:
    """Returns the modules of the class that begins last before a place in the same file.

    Where the place is a library's function called from there, what these hold of the library.
    """
    found: set[str] = set()
    for place in places:
        library, _, own = place.rpartition(CALLED_FROM)
        at = PLACE.match(own)
        begun = [(line, where) for line, where in _classes(nodes, at[1]) if line <= int(at[2])] if at else []
        paths = {node.path for node in nodes if begun and node.place == max(begun)[1]}
        found |= (_from_the_library(nodes, paths) or paths) if library else paths
    return tuple(node.path for node in nodes if node.path in found)


def _from_the_library(nodes: Sequence[ModuleNode], holders: Collection[str]) -> set[str]:
    known = {node.path for node in nodes}
    return {node.path for node in nodes if not node.place and parent_of(node.path, known) in holders}


def _classes(nodes: Sequence[ModuleNode], file: str) -> set[tuple[int, str]]:
    matches = ((PLACE.match(node.place), node.place) for node in nodes)
    return {(int(at[2]), place) for at, place in matches if at is not None and at[1] == file}


def _with_unused(nodes: Sequence[ModuleNode]) -> tuple[str, ...]:
    """Returns the modules right above one that has parameters and is never called."""
    known = {node.path for node in nodes}
    called = {node.path for node in nodes if node.calls or node.entered}
    unused = [node.path for node in nodes if node.parameters and node.path not in called and not node.container]
    above = [parent_of(path, known) for path in unused]
    return tuple(dict.fromkeys(path for path in above if path is not None and path in called))
