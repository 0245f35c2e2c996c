"""Operations of all ranks that only some of them come to, by tests of the rank around the calls above. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.agent.shared import operations
from diagnostics.static.executed.training import meets, operation, runs_beside
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.library import WRAPPERS, computed
from diagnostics.static.execution.values import Const, Made, Name, OneOf, Value, sources, truth

_WORLD = 4  # processes that the tests are tried for
ALL_RANKS = frozenset(range(_WORLD))
_RANKS = frozenset(["torch.distributed.get_rank", "rank", "torch.distributed.get_node_local_rank"])
_SIZES = frozenset(["torch.distributed.get_world_size"])
_YES = frozenset(["torch.distributed.is_initialized", "torch.distributed.is_available"])
_VARIABLES = {"RANK": None, "LOCAL_RANK": None, "SLURM_PROCID": None, "WORLD_SIZE": _WORLD}
_SHARDS = frozenset(["fully_shard", "FullyShardedDataParallel", "parallelize_module", "distribute_tensor"])
_STATES = frozenset(
    [f"torch.distributed.checkpoint.state_dict.{one}" for one in (
        "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict", "set_state_dict")]
    + ["torch.distributed.checkpoint.save", "torch.distributed.checkpoint.load"]
)  # fmt: skip
_OF_WRAPPERS = ("process_group", "device_mesh")
_MOST_DEEP = 12
# A test that may say whether ranks meet at all, or in which group they do.
_OF_RANKS = re.compile(
    r"dist|ddp|world|rank|sync|group|gather|local|node|parallel|main|master|chief|gpu|mode",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyReached:
    """`met` needs all ranks, and `guard` lets only some of them in; `through` is the call that leads there."""

    met: Event
    guard: Guard
    through: Event


def reached_by_some(execution: Execution) -> Iterator[PartlyReached]:
    """Yields each operation that some ranks alone come to, with none of its kind for the others."""
    sharded = any(one.name.rpartition(".")[2] in _SHARDS for one in execution.events)
    found: list[tuple[Event, frozenset[int], Guard]] = []
    some: dict[str, list[frozenset[int]]] = {}
    unclear: set[str] = set()
    for one in execution.events:
        if not (meets(one) or (sharded and _gathers_state(one))) or not any(not each.handler for each in one.guards):
            continue
        who = ranks_at(one)
        name = name_of(one)
        if who is None:
            unclear.add(name)
        elif who and who < ALL_RANKS:
            some.setdefault(name, []).append(who)
            guard = next(each for each in one.guards if _passing(each) not in (None, ALL_RANKS))
            found.append((one, who, guard))
    for one, who, guard in found:
        name = name_of(one)
        if name in operations.POINT_TO_POINT or _others_come(who, some[name]) or name in unclear or _has_own_group(one):
            continue
        yield PartlyReached(met=one, guard=guard, through=_through(one, guard))


def name_of(event: Event) -> str:
    """Returns what an operation is called in a sentence."""
    return operation(event) or event.name.rpartition(".")[2]


def _gathers_state(event: Event) -> bool:
    """Whether an event collects the state of a model that is sharded over the ranks."""
    return event.name in _STATES


def _others_come(who: frozenset[int], some: Sequence[frozenset[int]]) -> bool:
    """Whether other ranks come to such an operation, too, in a branch of their own: the last one may be rank 1."""
    return frozenset().union(*some) == ALL_RANKS or any(who.isdisjoint(one) for one in some)


def ranks_at(event: Event) -> frozenset[int] | None:
    """Returns the ranks that come to an event, None where something else may decide it."""
    joined = any(isinstance(one, Made) and one.name.rpartition(".")[2] in ("join", "Join") for one in event.contexts)
    if event.is_handled or joined or runs_beside(event):
        return None
    who = ALL_RANKS
    for guard in event.guards:
        passing = _passing(guard)
        if passing is None and _OF_RANKS.search(_text(guard.node)):
            return None
        who &= ALL_RANKS if passing is None else passing
    return who


def led_by(event: Event) -> Event:
    """Returns the call behind the test that lets only some ranks in, which leads to an event."""
    guard = next((each for each in event.guards if _passing(each) not in (None, ALL_RANKS)), None)
    return _through(event, guard) if guard is not None else event


def _text(node: ast.AST) -> str:
    return ast.unparse(getattr(node, "test", node))


def _passing(guard: Guard) -> frozenset[int] | None:
    """Returns the ranks that pass a test the way it was taken, None where it cannot be told."""
    return ranks_that_pass(guard.test, guard.taken)


def ranks_that_pass(test: Value, taken: bool) -> frozenset[int] | None:
    """Returns the ranks that pass a test the way it was taken, None where it cannot be told."""
    told = [of_rank(test, rank) for rank in range(_WORLD)]
    if any(one is None for one in told):
        return None
    return frozenset(rank for rank, one in enumerate(told) if bool(one.value) is taken)  # type: ignore[union-attr]


def of_rank(value: Value | None, rank: int, depth: int = _MOST_DEEP) -> Const | None:
    """Returns what a value is on a rank, None where something else than the rank decides it."""
    if isinstance(value, Const):
        return value
    if isinstance(value, OneOf) and depth:  # the rank, or a number where there is no process group
        asked = [one for one in value.options if not isinstance(one, Const)]
        return of_rank(asked[0], rank, depth - 1) if len(asked) == 1 else None
    if not isinstance(value, Made) or not depth:
        return None
    if value.name in _RANKS or value.name in _SIZES:
        return Const(_WORLD if value.name in _SIZES else rank) if _is_of_all(value) else None
    if value.name in _YES:
        return Const(True)
    if (variable := _variable(value)) is not None:
        given = _VARIABLES[variable]
        return Const(str(rank if given is None else given))
    given_args = [of_rank(one, rank, depth - 1) for one in value.args]
    if value.name == "and" or value.name == "or":
        return _joined(value.name == "or", given_args)
    known = [one for one in given_args if one is not None]
    if len(known) < len(given_args) or not known:
        return None
    if value.name == "not":
        return Const(not truth(known[0]))
    if value.name in ("int", "bool") and len(known) == 1:
        return _number(known[0].value)
    made = computed(value.name, known[0], known[1], value.node) if len(known) == 2 and value.node is not None else None
    return made if isinstance(made, Const) else None


def _joined(stops: bool, given: list[Const | None]) -> Const | None:
    if any(one is not None and bool(one.value) is stops for one in given):
        return Const(stops)
    return None if None in given else Const(not stops)


def _is_of_all(value: Made) -> bool:
    """Whether the rank is asked for in the group of all."""
    given = value.argument(0, "group")
    return value.name == "rank" or given is None or (isinstance(given, Const) and given.value is None)


def _variable(value: Made) -> str | None:
    """Returns the variable of the environment that a value is read from."""
    of_environment = isinstance(value.owner, Name) and value.owner.name == "os.environ"
    if not of_environment and value.name not in ("os.environ.get", "os.getenv"):
        return None
    named = value.args[0] if value.args else None
    found = named.value if isinstance(named, Const) else None
    return found if isinstance(found, str) and found in _VARIABLES else None


def _number(value: Any) -> Const | None:
    try:
        return Const(int(value))
    except (TypeError, ValueError):
        return None


def _has_own_group(event: Event) -> bool:
    """Whether an operation is one of a group that need not be that of all ranks."""
    groups = [one for name, one in event.keywords.items() if name in operations.GROUPS]
    wrappers = [one for one in sources(event.owner) if isinstance(one, Made) and one.name in WRAPPERS]
    groups += [one.keywords[name] for one in wrappers for name in _OF_WRAPPERS if name in one.keywords]
    given = any(not (isinstance(one, Const) and one.value is None) for one in groups)
    return given or "**" in event.keywords or any(_makes_group(one) for one in event.args)


def _makes_group(value: Value) -> bool:
    last = value.name.rpartition(".")[2] if isinstance(value, Made) else ""
    return last in operations.GROUP_MAKERS or last == "get_group"


def _through(event: Event, guard: Guard) -> Event:
    """Returns the call behind a test, in the function that was written to be called so: not in a decorator."""
    frames = [one.function for one in event.frames]
    at = max((place for place, one in enumerate(frames) if one is guard.function), default=-1)
    inside = event.frames[at + 1 :]
    if inside and guard.function.outer is not None and guard.function.outer.name != "<module>":
        inside = inside[1:]  # what is decorated is entered by the decorator
    if not inside:
        return event
    return Event("()", inside[0].call, inside[0].caller)
