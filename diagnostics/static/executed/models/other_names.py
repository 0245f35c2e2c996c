"""Averages that are kept by the names of a bare model and asked for those of its wrapper, or the other way. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import wrapper_of
from diagnostics.static.execution.events import Execution, Guard
from diagnostics.static.execution.values import Made, Mapped, Value, sources

_DDP = "torch.nn.parallel.DistributedDataParallel"
_NAMED = frozenset([".named_parameters", ".named_buffers", ".state_dict"])
# What hands names on as they are.
_KEEPS = _NAMED | {"item", "[]", "list", "tuple", "dict", "sorted", "enumerate", ".items", ".keys", "iterate", "count"}
_CHANGES = (".lerp_", ".mul_", ".add_", ".sub_", ".copy_", ".addcmul_", ".data", "set data")


def asked_by_other_names(execution: Execution) -> Iterator[tuple[Guard, Made, Made]]:
    """Yields (test for a name, whose names are asked for, by whose names it is kept): the test is never true."""
    told: set[int] = set()
    for event in execution.events if any(one.name == _DDP for one in execution.events) else ():
        for guard in event.guards if event.name in _CHANGES else ():
            for name, held in _memberships(guard) if id(guard.node) not in told else ():
                asked, kept = _listed_by(name), _kept_by(held)
                if asked is not None and kept is not None and _is_inside_of(asked.owner, kept.owner):
                    told.add(id(guard.node))
                    yield guard, asked, kept


def _memberships(guard: Guard) -> Iterator[tuple[Value, Value]]:
    """Yields (what is asked for, where) of what has to be in a container where a test lets something come."""
    test = guard.test
    parts = test.args if isinstance(test, Made) and test.name == "and" and guard.taken else (test,)
    for one in parts:
        if isinstance(one, Made) and len(one.args) == 2 and one.name == ("in" if guard.taken else "not in"):
            yield one.args[0], one.args[1]


def _listed_by(name: Value) -> Made | None:
    """Returns the list of names that a name was taken from as it is."""
    found = [one for one in sources(name) if isinstance(one, Made)]
    listed = next((at for at, one in enumerate(found) if one.name in _NAMED), None)
    if listed is None or any(one.name not in _KEEPS for one in found[:listed]):
        return None
    return found[listed]


def _kept_by(held: Value) -> Made | None:
    """Returns the list of names by which the values of a dict were kept."""
    if not isinstance(held, Mapped):
        return None
    found = [one for one in sources(held) if isinstance(one, Made) and one.name in _NAMED]
    return found[0] if found and all(one.owner is found[0].owner for one in found) else None


def _is_inside_of(one: Value | None, other: Value | None) -> bool:
    """Whether one of two models is the DDP wrapper of the other: it has "module." before each name."""
    return any(
        wrapper is not None and wrapper.name == _DDP and wrapper is whole and wrapper.argument(0, "module") is inner
        for whole, inner in ((one, other), (other, one))
        for wrapper in (wrapper_of(whole),)
    )
