"""Suspects that cannot be taken out of the model: what fails alone is named."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import ModuleFound
from diagnostics.bisection.search.narrowing import narrow
from diagnostics.bisection.search.search_state import Search
from diagnostics.bisection.search.suspects import each

MOST = 4  # suspects that are run alone


def by_isolation(search: Search, suspects: Sequence[str]) -> ModuleFound:
    """Returns the smallest of them that fails alone."""
    order = sorted(suspects, key=lambda name: (name != search.opened, len(search.tree.below(name))))
    for name in [one for one in order if one != search.tree.root][:MOST]:
        if search.removals.answer(search.removals.alone(name)) is Answer.FAILS:
            return _smallest_alone(search, name)
    if tuple(suspects) == (search.tree.root,):
        return _root(search)
    return search.undecided(tuple(suspects))


def _smallest_alone(search: Search, name: str) -> ModuleFound:
    """It fails alone: halves what is below it, run alone."""
    outside = set(search.tree.parts) - search.tree.below(name)
    found = narrow(
        search.tree, lambda gone: search.removals.ask(gone, alone=name), kept=[name], innocent=outside | search.innocent
    )
    below = sorted(found.suspects, key=lambda one: len(search.tree.below(one)))
    for one in below[:MOST]:
        if search.removals.answer(search.removals.alone(one)) is Answer.FAILS:
            name = one
            break
    search.alone = search.removals.alone(name)
    search.heals = search.removals.trial([name]) if search.tree.parts[name].removable else None
    if search.heals is not None and search.removals.answer(search.heals) is Answer.FAILS:
        several = each(search, name)
        if not isinstance(several, str):
            return several
    return search.named((name,), search.alone)


def _root(search: Search) -> ModuleFound:
    """Everything inside can be replaced, the model itself cannot: its own code or what is around it."""
    if search.failure.phase in ("forward", "loss", "backward"):
        return search.named((search.tree.root,), search.removals.trial(search.gone))
    return search.undecided((search.tree.root,))
