"""Failures that take several modules at once."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.bisection.search.calling_code import around
from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import ModuleFound, Relation
from diagnostics.bisection.search.narrowing import Narrowed
from diagnostics.bisection.search.search_state import Search

MOST = 4  # modules of one set


def together(search: Search, first: str) -> ModuleFound:
    """Returns which modules it takes beside the first: without all others it passes, too."""
    kept = [first]
    while len(kept) < MOST:
        found = search.narrow(gone=search.gone, kept=kept)
        if not found.suspects:
            break
        next_one = _one_of(search, found)
        if next_one is None:
            return search.undecided((*kept, *found.suspects))
        kept.append(next_one)
        search.rest = search.removals.trial(search.tree.others(kept))
        if search.removals.answer(search.rest) is Answer.FAILS:
            search.gone = frozenset(search.tree.others(kept))
            break
    else:
        return search.undecided(tuple(kept))
    if len(kept) == 1:
        return around(search, first)
    return set_of(search, kept)


def _one_of(search: Search, found: Narrowed) -> str | None:
    """Returns the suspect; of several that cannot be taken out the one that was open when it failed."""
    if len(found.suspects) == 1 and found.heals:
        return found.suspects[0]
    return search.opened if search.opened in found.suspects else None


def set_of(search: Search, kept: Sequence[str]) -> ModuleFound:
    """Returns the answer that names these together; `search.gone` is all that can be gone at once."""
    names = tuple(name for name in search.tree.parts if name in kept)
    common = search.tree.common(names)
    alone = search.removals.alone(common)
    holds = common != search.tree.root and search.removals.answer(alone) is Answer.FAILS
    search.alone = alone if holds else None
    minimal = alone if holds else search.removals.trial(search.gone)
    return search.named(names, minimal, relation=Relation.TOGETHER, within=common if holds else None)
