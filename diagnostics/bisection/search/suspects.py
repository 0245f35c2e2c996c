"""Failures that any of several modules has by itself, as a rule every instance of one class."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import ModuleFound, Relation
from diagnostics.bisection.search.search_state import Search

MOST = 4  # modules that are searched one by one, or run alone


def each(search: Search, first: str) -> ModuleFound | str:
    """Returns all that fail by themselves: without the first it fails all the same.

    A path where it was one module only, which several hold, and that has to be judged.
    """
    same = _of_its_class(search, first)
    if len(same) > 1 and first in same and _all_fail(search, first, same):
        search.heals, search.alone = search.removals.trial(same), search.removals.alone(first)
        tried = len(_sample(first, same))
        notes = (f"{tried} of the {len(same)} were run alone",) if tried < len(same) else ()
        return search.named(same, search.alone, relation=Relation.EACH, notes=notes)
    return _by_itself(search, first)


def _all_fail(search: Search, first: str, same: Sequence[str]) -> bool:
    """Returns whether it passes without all of a class, some of which fail alone and are not all that does."""
    if search.removals.ask(same) is not Answer.PASSES:
        return False
    some = _sample(first, same)
    if not all(_own_code_fails(search, name) for name in some):
        return False
    return len(some) == len(same) or search.removals.ask(some) is Answer.FAILS


def _own_code_fails(search: Search, name: str) -> bool:
    """Returns whether a module fails alone, and with stand-ins for what it holds."""
    below = [child for child in search.tree.children(name) if search.tree.parts[child].removable]
    return all(search.removals.ask(removed, alone=name) is Answer.FAILS for removed in ((), below))


def _of_its_class(search: Search, name: str) -> tuple[str, ...]:
    wanted = next(node for node in search.nodes if node.path == name)
    kind = (wanted.class_name, wanted.place)
    alike = [node.path for node in search.nodes if (node.class_name, node.place) == kind]
    # One that holds another of them would fail alone because of that one.
    return tuple(
        path
        for path in alike
        if search.tree.parts[path].removable and len(search.tree.below(path).intersection(alike)) == 1
    )


def _by_itself(search: Search, first: str) -> ModuleFound | str:
    found = [first]
    while search.removals.ask(found) is not Answer.PASSES:
        more = search.narrow(gone=found)
        if len(found) == MOST or len(more.suspects) != 1 or not more.heals:
            return search.undecided((*found, *more.suspects))
        found.append(more.suspects[0])
    for name in tuple(found):  # a module that two others call is found after the first of these
        fewer = [one for one in found if one != name]
        if fewer and search.removals.ask(fewer) is Answer.PASSES:
            found = fewer
    if len(found) == 1:
        return found[0]
    search.heals = search.removals.trial(found)
    # One may fail only by what the code around it makes of its output; the first named is one that does by itself.
    alone = next((one for one in found if search.removals.ask((), alone=one) is Answer.FAILS), found[0])
    found = [alone, *(one for one in found if one != alone)]
    search.alone = search.removals.alone(alone)
    minimal = search.alone if search.removals.answer(search.alone) is Answer.FAILS else search.failing
    return search.named(tuple(found), minimal, relation=Relation.EACH)


def _sample(first: str, same: Sequence[str]) -> tuple[str, ...]:
    """Returns all of a few, else the first that was found and those at both ends."""
    return tuple(same) if len(same) <= MOST else tuple(dict.fromkeys((first, same[0], same[-1])))
