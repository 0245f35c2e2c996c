"""Values kept under keys that a rank's own samples bring in, and exchanged key by key. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.library import LOADER, SAME_ITEMS
from diagnostics.static.execution.values import Const, Items, Made, Mapped, Value, sources
from diagnostics.static.program.functions import last_name

_KEYS = frozenset([".items", ".keys", ".values"])
# Methods of Accelerate and Fabric that all ranks meet in, beside the operations of torch.distributed.
_MEETS = frozenset(["gather", "gather_for_metrics", *operations.SUMS, *operations.GATHERED_TENSORS])
_OWN = frozenset([".generate", ".prepare", ".setup_dataloaders", LOADER])


def exchanged_by_own_keys(execution: Execution) -> Iterator[tuple[Event, ast.Call, Event, Guard]]:
    """Yields (loop over the keys of a dict, exchange in it, what brings a key in, the test of own samples)."""
    for loop in execution.named("iterate"):
        table = _table(loop.owner) or _table_of_pairs(loop, execution)
        call = _exchange(loop.node) if table is not None else None
        if table is None or call is None:
            continue
        filled = [(key, one) for one in execution.events if (key := _key_of(one.owner, table)) is not None]
        always = {key for key, one in filled if _own_test(one) is None}
        found = next(((one, test) for key, one in filled if key not in always and (test := _own_test(one))), None)
        if found is not None:
            yield loop, call, *found


def _table(over: Value | None) -> Mapped | None:
    """Returns the dict whose keys are gone through, of which none is known when it is made."""
    for _ in range(4):
        if isinstance(over, Made) and over.name in _KEYS:
            over = over.owner
        elif isinstance(over, Made) and over.name in SAME_ITEMS and len(over.args) == 1:
            over = over.args[0]
        else:
            break
    return over if isinstance(over, Mapped) and over.open and not over.fields else None


def _table_of_pairs(loop: Event, execution: Execution) -> Mapped | None:
    """Returns the dict of `for key, value in self.kept.items()`, of whose pairs none is known: by its name."""
    over = loop.node.iter if isinstance(loop.node, ast.For) else None
    if not isinstance(loop.owner, Items) or loop.owner.items or not isinstance(over, ast.Call):
        return None
    if not isinstance(over.func, ast.Attribute) or f".{over.func.attr}" not in _KEYS:
        return None
    name = ast.unparse(over.func.value)
    for one in execution.events:
        item = one.owner
        if not isinstance(item, Made) or item.name != "[]" or not isinstance(item.node, ast.Subscript):
            continue
        near = one.function is loop.function or (one.function.owner is not None
                                                 and one.function.owner is loop.function.owner)  # fmt: skip
        if near and ast.unparse(item.node.value) == name:
            return _table(item.owner)
    return None


def _exchange(loop: ast.AST) -> ast.Call | None:
    """Returns the first call in a loop that all ranks have to come to."""
    for node in ast.walk(loop) if isinstance(loop, ast.For) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = last_name(node.func.value).lstrip("_")
            meets = node.func.attr in operations.MEETINGS and owner in ("dist", "distributed")
            if meets or (node.func.attr in _MEETS and owner in ("accelerator", "fabric", "strategy")):
                return node
    return None


def _key_of(owner: Value | None, table: Mapped) -> object:
    """Returns the key under which something of a dict is changed: `values["length"].append(x)`."""
    if isinstance(owner, Made) and owner.name == "[]" and owner.owner is table and isinstance(owner.args[0], Const):
        return owner.args[0].value
    return None


def _own_test(event: Event) -> Guard | None:
    """Returns the test around an event that is computed of what the rank has read or made of it."""
    for guard in event.guards:
        found = [one for one in sources(guard.test) if isinstance(one, Made)]
        counts = any(one.name == "%" for one in found)
        own = any(one.name in _OWN for one in found)
        agreed = any(one.name.rpartition(".")[2] in _MEETS for one in found)
        if own and not guard.handler and not counts and not agreed:
            return guard
    return None
