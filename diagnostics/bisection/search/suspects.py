"""Failures that any of several modules has by itself, as a rule every instance of one class.

Suspects that cannot be taken out of the model: what fails alone is named.

Failures that take several modules at once.

A suspect that passes alone although nothing else is needed: the code that calls it has a part in the failure.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import FailureRelation, ModuleFound
from diagnostics.bisection.search.narrowing import Narrowed, bisect_tree
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
        return search.named(same, search.alone, relation=FailureRelation.EACH, notes=notes)
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
    return search.named(tuple(found), minimal, relation=FailureRelation.EACH)


def _sample(first: str, same: Sequence[str]) -> tuple[str, ...]:
    """Returns all of a few, else the first that was found and those at both ends."""
    return tuple(same) if len(same) <= MOST else tuple(dict.fromkeys((first, same[0], same[-1])))


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
    found = bisect_tree(
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
    return search.named(names, minimal, relation=FailureRelation.TOGETHER, within=common if holds else None)


def around(search: Search, suspect: str) -> ModuleFound:
    """Returns the smallest module above that fails alone; the suspect where that one does not heal."""
    holding = _fails_alone(search, suspect)
    without = search.removals.trial([holding])
    if search.removals.answer(without) is not Answer.PASSES:
        return search.named((suspect,), search.rest or search.failing)
    search.heals, search.alone = without, search.removals.alone(holding)
    note = f"{suspect} is needed in it: with a stand-in for it the model passes, and alone it passes, too"
    minimal = (search.rest or search.failing) if holding == search.tree.root else search.alone
    return search.named((holding,), minimal, notes=(note,))


def _fails_alone(search: Search, name: str) -> str:
    """Returns the smallest part above that fails alone; the model itself where nothing smaller does."""
    above = search.tree.above(name)
    low, high = 0, len(above) - 1  # above[high] is the whole model, which fails
    while low < high:
        middle = (low + high) // 2
        if search.removals.answer(search.removals.alone(above[middle])) is Answer.FAILS:
            high = middle
        else:
            low = middle + 1
    return above[high]
