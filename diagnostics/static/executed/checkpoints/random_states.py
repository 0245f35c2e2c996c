"""One random state of a checkpoint that every rank goes on with, where the ranks drew apart before. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.one_rank import ALL_RANKS, ranks_at
from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.saved_files import asks_rank, path_of
from diagnostics.static.executed.training import is_distributed
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, made_of, sources
from diagnostics.static.program.functions import Function

_LOAD = "torch.load"
_SEEDS = frozenset(
    ["torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
     "numpy.random.seed", "random.seed", "lightning.seed_everything", "accelerate.utils.set_seed",
     "transformers.set_seed"]
)  # fmt: skip
_RESTORES = frozenset(
    ["random.setstate", "numpy.random.set_state", "torch.set_rng_state", "torch.random.set_rng_state",
     "torch.cuda.set_rng_state", "torch.cuda.random.set_rng_state"]
)  # fmt: skip
_GETS = ("get_rng_state", "get_rng_state_all", "getstate", "get_state")
_EXCHANGES = "torch.distributed."
_MOST = 60


def restored_alike(execution: Execution) -> Iterator[tuple[Event, Made, Event, ast.AST, Function]]:
    """Yields (restore, load, seeding by the rank, call by which the load's function restores, that function)."""
    if not is_distributed(execution):
        return
    saves = [one for one in execution.named("torch.save") if _holds_state(one.argument(0, "obj"))]
    if any(_is_rank(each) for one in saves for each in _chosen_by(path_of(one))):
        return  # each rank keeps its own
    seeds = [(at, one) for at, one in enumerate(execution.events) if one.name in _SEEDS
             and any(map(asks_rank, (*one.args, *one.keywords.values())))]  # fmt: skip
    apart = seeds[0][1] if seeds else None
    told: set[int] = set()
    for at, one in enumerate(execution.events) if apart is not None else ():
        given = next(iter((*one.args[:1], *one.keywords.values())), None) if one.name in _RESTORES else None
        loaded = _loaded_whole(given)
        if loaded is None or id(loaded) in told or not _all_come(one):
            continue
        if any(place > at for place, _ in seeds):
            continue  # the ranks are set apart again
        told.add(id(loaded))
        assert apart is not None  # noqa: S101 (asked for above)
        yield one, loaded, apart, *_restored_by(one, loaded)


def _holds_state(value: Value | None) -> bool:
    return any(isinstance(each, Made) and each.name.endswith(_GETS) for each in sources(value))


def _is_rank(value: Value) -> bool:
    """Whether a value is the rank itself, or what a launcher says of it."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.endswith(("RANK", "PROCID"))
    return isinstance(value, Made) and value.name.endswith(("rank", "process_index"))


def _all_come(event: Event) -> bool:
    """Whether no test of the rank stands before an event, as far as that is seen."""
    return ranks_at(event) in (None, ALL_RANKS) and not any(
        guard.handler or any(speaks_of_ranks(one) for one in sources(guard.test)) for guard in event.guards
    )


def _loaded_whole(value: Value | None) -> Made | None:
    """Returns the load of which a state is an item, where neither the path nor the item is chosen by the rank."""
    found: Made | None = None
    for one in _chosen_by(value):
        if speaks_of_ranks(one) or (isinstance(one, Made) and one.name.startswith(_EXCHANGES)):
            return None
        if isinstance(one, Made) and one.name == _LOAD:
            found = one
    return found if found is not None and found.function is not None else None


def _chosen_by(value: Value | None) -> Iterator[Value]:
    """Yields what a value is made of; of a file that was read its path, and not the device to which it was read."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, Made) and one.name in (_LOAD, "open"):
            waiting.append(next(iter((*one.args[:1], *one.keywords.values())), None))
        elif not isinstance(one, Const):
            waiting += made_of(one)


def _restored_by(restore: Event, loaded: Made) -> tuple[ast.AST, Function]:
    """Returns the statement that restores in the function that loads, or what it calls to do so."""
    for one in restore.frames:
        if one.caller is loaded.function:
            return one.call, one.caller
    return restore.node, restore.function
