"""Halves a tree of parts until one is left without which the failure is gone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.part_tree import PartTree

Ask = Callable[[frozenset[str]], Answer]
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What is left. One suspect is the culprit, of several none can be told apart, none: no part is to blame."""

    suspects: tuple[str, ...]
    gone: frozenset[str]  # without all of these it still fails
    heals: bool  # without the suspects, it was seen to pass


@dataclass(slots=True)
class _State:
    tree: PartTree
    suspects: set[str]
    gone: frozenset[str]
    kept: frozenset[str]
    patience: int
    heals: bool = False
    blocked: set[str] = field(default_factory=set)
    asked: set[frozenset[str]] = field(default_factory=set)
    waiting: list[Group] = field(default_factory=list)


def bisect_tree(
    tree: PartTree,
    ask: Ask,
    *,
    gone: Collection[str] = (),
    kept: Collection[str] = (),
    innocent: Collection[str] = (),
    patience: int = 12,
) -> Narrowed:
    """Returns a part that the failure needs.

    `ask` is told which parts are taken out, each with all below it. It fails without `gone`. `kept` stay, and so does
    what is above them. `innocent` are no suspects. After `patience` unclear answers it goes on no longer.
    """
    above = {name for part in kept for name in tree.above(part)}
    free = set(tree.parts) - tree.covered(gone) - set(kept) - above - set(innocent)
    state = _State(tree=tree, suspects=free, gone=tree.roots(gone), kept=frozenset(kept), patience=patience)
    while state.suspects and state.patience > 0:
        group = state.waiting.pop(0) if state.waiting else _best(state)
        if group is None:
            break
        _weigh(state, group, ask(_without(state, group)))
    order = [name for name in tree.parts if name in state.suspects]
    return Narrowed(suspects=tuple(order), gone=state.gone, heals=state.heals)


def _weigh(state: _State, group: Group, answer: Answer) -> None:
    state.asked.add(_without(state, group))
    covered = state.tree.covered(group)
    match answer:
        case Answer.FAILS:
            state.gone = _without(state, group)
            state.suspects -= covered
        case Answer.PASSES:
            state.suspects &= covered
            state.heals = True
            state.waiting.clear()
        case Answer.UNCLEAR:
            state.patience -= 1
            _split(state, group)


def _without(state: _State, group: Group) -> frozenset[str]:
    return state.tree.roots({*state.gone, *group})


def _split(state: _State, group: Group) -> None:
    """Puts the halves of an unclear group first; one part alone is not asked for again."""
    if len(group) == 1:
        state.blocked.add(group[0])
        return
    half = len(group) // 2
    state.waiting[:0] = [group[:half], group[half:]]


def _best(state: _State) -> Group | None:
    """Returns the group that holds about half of the suspicion; all of it last, where that was not seen to heal."""
    suspicion = _suspicion(state)
    total, everybody = suspicion[state.tree.root]
    best: tuple[float, int, Group] | None = None
    for group, weight, count in _groups(state, suspicion):
        if count == everybody and state.heals:
            continue
        off = abs(weight - total / 2) if count < everybody else total
        if (best is None or (off, len(group)) < best[:2]) and _without(state, group) not in state.asked:
            best = (off, len(group), group)
    return best[2] if best is not None else None


def _suspicion(state: _State) -> dict[str, tuple[float, int]]:
    """Returns weight and number of the suspects in each part and below it."""
    found: dict[str, tuple[float, int]] = {}
    for name in state.tree.upward():
        below = [found[child] for child in state.tree.children(name)]
        own = name in state.suspects
        weight = state.tree.parts[name].weight if own else 0.0
        found[name] = (weight + sum(one[0] for one in below), own + sum(one[1] for one in below))
    return found


def _groups(state: _State, suspicion: Mapping[str, tuple[float, int]]) -> Iterator[tuple[Group, float, int]]:
    """Yields what can be taken out at once, with weight and number: the root, and the first few below each part."""
    root = state.tree.root
    if _allowed(state, root):
        yield (root,), *suspicion[root]
    for name in state.tree.parts:
        group: Group = ()
        weight, count = 0.0, 0
        for piece in _pieces(state, name, suspicion):
            group += (piece,)
            weight, count = weight + suspicion[piece][0], count + suspicion[piece][1]
            yield group, weight, count
            if len(group) > 1:
                yield (piece,), *suspicion[piece]


def _pieces(state: _State, name: str, suspicion: Mapping[str, tuple[float, int]]) -> Iterator[str]:
    """Yields the parts right below that can be taken out; of one that cannot, what is below it."""
    for child in state.tree.children(name):
        if not suspicion[child][1]:
            continue
        if _allowed(state, child):
            yield child
        else:
            yield from _pieces(state, child, suspicion)


def _allowed(state: _State, name: str) -> bool:
    part = state.tree.parts[name]
    return part.removable and name not in state.blocked and not state.tree.below(name) & state.kept
