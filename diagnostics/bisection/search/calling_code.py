"""A suspect that passes alone although nothing else is needed: the code that calls it has a part in the failure."""

from __future__ import annotations

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import ModuleFound
from diagnostics.bisection.search.search_state import Search


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
