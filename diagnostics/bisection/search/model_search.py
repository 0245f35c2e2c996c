"""Finds the smallest module that a failure comes from: hints first, then halves of the module tree."""

from __future__ import annotations

from diagnostics.bisection.search.constructor_search import CONSTRUCTING, NO_TREE, search_constructors
from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import ModuleFound
from diagnostics.bisection.search.removals import Removals
from diagnostics.bisection.search.search_state import BEFORE_THE_MODEL, Search
from diagnostics.bisection.search.suspects import around, by_isolation, each, set_of, together
from diagnostics.bisection.search.suspicion import known_modules, never_reached, open_module, part_tree
from diagnostics.bisection.trial import Oracle, OutOfTries, Trial


def search_model(oracle: Oracle, failing: Trial, *, healthy: Trial | None = None) -> ModuleFound:
    """Returns the smallest module, or set of modules, whose removal heals and whose isolation fails in the same way.

    `failing` has its failure and the minimal settings; `healthy` is a trial of the same model that passes. Raises
    ValueError where `failing` has no failure.
    """
    failure = failing.failure
    if failure is None:
        raise ValueError("a case that does not fail has no failing module")
    if failure.phase in CONSTRUCTING:
        return search_constructors(oracle, failing, failure)
    nodes = known_modules(failing, healthy)
    if not nodes:
        early = failure.phase in BEFORE_THE_MODEL
        where = f"it fails in phase {failure.phase!r}, before the model runs"
        return ModuleFound(minimal=failing, outside=where if early else "", undecided="" if early else NO_TREE)
    tree = part_tree(nodes, failing)
    search = Search(
        failing=failing,
        failure=failure,
        nodes=nodes,
        tree=tree,
        removals=Removals(oracle, failing, failure, tree),
        innocent=never_reached(failing),
        opened=open_module(nodes, failure),
    )
    try:
        return _before_the_model(search) if failure.phase in BEFORE_THE_MODEL else _run(search)
    except OutOfTries:
        return search.cut_short()


def _run(search: Search) -> ModuleFound:
    """Narrows to one suspect and judges it."""
    first = search.narrow()
    match first.suspects:
        case ():
            return search.outside()
        case (one,) if first.heals:
            return _judged(search, one)
        case several:
            return by_isolation(search, several)


def _before_the_model(search: Search) -> ModuleFound:
    """The phase says it; a stand-in for the whole model confirms it, where there can be one."""
    root = search.tree.root
    if search.tree.parts[root].removable:
        search.heals = search.removals.trial([root])
    if search.heals is not None and search.removals.answer(search.heals) is Answer.PASSES:
        return _run(search)
    return search.outside()


def _judged(search: Search, suspect: str) -> ModuleFound:
    """The model without it must pass, and it must fail alone; else others have a part in it."""
    search.heals, search.alone = search.removals.both(suspect)
    if search.removals.answer(search.heals) is Answer.FAILS:
        return _all_of_them(search, suspect)
    if search.removals.answer(search.alone) is Answer.FAILS:
        return search.named((suspect,), _smallest(search, suspect))
    search.rest = search.removals.trial(search.tree.others([suspect]))
    if search.removals.answer(search.rest) is not Answer.FAILS:
        return together(search, suspect)
    search.gone = search.tree.roots(search.tree.others([suspect]))
    if search.opened is not None and search.opened in _left_beside(search, suspect):
        return set_of(search, (suspect, search.opened))
    inside = search.opened is not None and search.opened in search.tree.below(suspect)
    if inside or search.removals.answer(search.alone) is Answer.UNCLEAR:
        return search.named((suspect,), search.rest)
    return around(search, suspect)


def _left_beside(search: Search, suspect: str) -> set[str]:
    """Returns what could not be taken out beside the suspect, and neither holds it nor is held by it."""
    others = search.tree.covered(search.tree.others([suspect]))
    return set(search.tree.parts) - others - search.tree.below(suspect) - set(search.tree.above(suspect))


def _all_of_them(search: Search, suspect: str) -> ModuleFound:
    several = each(search, suspect)
    return _judged(search, several) if isinstance(several, str) else several


def _smallest(search: Search, suspect: str) -> Trial:
    """Returns the failing trial with the least in it."""
    if suspect == search.tree.root and search.gone:
        return search.removals.trial(search.gone)
    return search.alone if search.alone is not None else search.failing
