"""Failures that take several modules at once."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.analysis.delta_debugging import Answer
from diagnostics.bisection.calling_code import around
from diagnostics.bisection.module_found import ModuleFound, Relation
from diagnostics.bisection.search_state import Search

MOST = 4  # modules of one set


def together(search: Search, first: str) -> ModuleFound:
    """Returns which modules it takes beside the first: without all others it passes, too."""
    kept = [first]
    while len(kept) < MOST:
        found = search.narrow(gone=search.gone, kept=kept)
        if len(found.suspects) != 1 or not found.heals:
            if found.suspects:
                return search.undecided((*kept, *found.suspects))
            break
        kept.append(found.suspects[0])
        search.rest = search.removals.trial(search.tree.others(kept))
        if search.removals.answer(search.rest) is Answer.FAILS:
            search.gone = frozenset(search.tree.others(kept))
            break
    else:
        return search.undecided(tuple(kept))
    if len(kept) == 1:
        return around(search, first)
    return _set(search, kept)


def _set(search: Search, kept: Sequence[str]) -> ModuleFound:
    names = tuple(name for name in search.tree.parts if name in kept)
    common = search.tree.common(names)
    search.alone = search.removals.alone(common)
    holds = common != search.tree.root and search.removals.answer(search.alone) is Answer.FAILS
    minimal = search.alone if holds else search.removals.trial(search.gone)
    return search.named(names, minimal, relation=Relation.TOGETHER, within=common if holds else None)
