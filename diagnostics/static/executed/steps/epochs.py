"""Loaders that are read anew in each epoch. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from diagnostics.static.executed.training import loader_of, parts, sampler_of, within
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.library import BATCHES, BY_CHANCE, IN_ORDER, LOADER, SAMPLER
from diagnostics.static.execution.values import Class, Const, Instance, Made, Name, Value, options

_TRAINS = (".backward", ".step")
_PLAIN = ("torch.utils.data.", "typing.", "abc.", "collections.")  # none of their classes is told an epoch but SAMPLER
_DEEPEST = 4
_KNOWN = frozenset([SAMPLER, LOADER, BATCHES, IN_ORDER, BY_CHANCE])  # that something may be told the epoch


def same_order_for_ever(execution: Execution) -> Iterator[tuple[Made, OpenLoop, Event | None]]:
    """Yields (sampler, loop over the epochs, a set_epoch that something else was asked) for training loaders."""
    told = [one for one in execution.events if one.name == ".set_epoch"]
    if any(not isinstance(one.owner, Made) or one.owner.name not in _KNOWN for one in told):
        return  # it is not known who was told
    done: set[int] = set()
    for begun in execution.named("iterate"):
        loader = loader_of(begun.owner)
        sampler = sampler_of(loader) if loader is not None else None
        if sampler is None or id(sampler) in done or not begun.loops or not _shuffles(sampler):
            continue
        if (
            _trains_in(begun, execution)
            and not any(one.owner is sampler for one in told)
            and _goes_round(begun.loops[-1])
        ):
            done.add(id(sampler))
            yield sampler, begun.loops[-1], next((one for one in told if one.owner is loader), None)


def own_samplers_never_told(execution: Execution) -> Iterator[tuple[Instance, OpenLoop]]:
    """Yields (sampler of the project that has a set_epoch, loop over the epochs) where none is ever called."""
    entered = {id(frames[-1].function.syntax) for frames in execution.entered}
    done: set[int] = set()
    for begun in execution.named("iterate"):
        loader = loader_of(begun.owner)
        given = [loader.argument(3, "sampler"), loader.argument(4, "batch_sampler")] if loader is not None else []
        sampler = next((one for one in given if isinstance(one, Instance)), None)
        method = _set_epoch_of(sampler) if sampler is not None else None
        if sampler is None or method is None or id(method) in entered or id(sampler) in done or not begun.loops:
            continue
        if _goes_round(begun.loops[-1]) and _trains_in(begun, execution):
            done.add(id(sampler))
            yield sampler, begun.loops[-1]


def samplers_behind_a_question(execution: Execution) -> Iterator[tuple[Event, Instance, Made | Instance, OpenLoop]]:
    """Yields (set_epoch, object that has none, sampler in it that has, loop over the epochs).

    The call stands under `hasattr`, or its AttributeError is caught: nothing is told, and nothing is said.
    """
    for asked in execution.named(".set_epoch"):
        outer = asked.owner
        if not isinstance(outer, Instance) or not _is_never_reached(asked) or not _is_without_more(outer.kind):
            continue
        inner = next((one for one in parts(outer) if _draws_by_epoch(one)), None)
        if not isinstance(inner, (Made, Instance)) or _is_told(inner, asked, execution):
            continue
        for begun in execution.named("iterate"):
            loader = loader_of(begun.owner)
            given = [loader.argument(3, "sampler"), loader.argument(4, "batch_sampler")] if loader is not None else []
            held = any(one is outer for value in given for one in options(value))
            if held and begun.loops and _goes_round(begun.loops[-1]) and _trains_in(begun, execution):
                yield asked, outer, inner, begun.loops[-1]
                break


def _is_never_reached(asked: Event) -> bool:
    """Whether a call of what an object lacks is asked for first, or its failure caught."""
    tests = [one.test for one in asked.guards if one.taken and isinstance(one.test, Made)]
    joined = [each for one in tests for each in (one, *(one.args if one.name == "and" else ()))]
    if any(isinstance(one, Made) and one.name == "hasattr" for one in joined):
        return True
    handlers = [one.type for block in asked.tries for one in block.node.handlers if one.type is not None]
    return any(isinstance(one, ast.Name) and one.id == "AttributeError" for kind in handlers for one in ast.walk(kind))


def _is_without_more(kind: Class, deep: int = 0) -> bool:
    """Whether a class has what stands in it, and what torch's samplers and data sets have."""
    named = all((isinstance(one, Class) and deep < _DEEPEST and _is_without_more(one, deep + 1))
                or (isinstance(one, Name) and one.name.startswith(_PLAIN)) for one in kind.bases)  # fmt: skip
    return named and not any(getattr(one, "name", "") in ("__getattr__", "set_epoch") for one in kind.kind.body)


def _draws_by_epoch(value: Value) -> bool:
    if isinstance(value, Instance):
        return _set_epoch_of(value) is not None
    return isinstance(value, Made) and value.name == SAMPLER and _shuffles(value)


def _is_told(inner: Value, asked: Event, execution: Execution) -> bool:
    """Whether a sampler is told the epoch by another call as well."""
    if isinstance(inner, Instance):
        method = _set_epoch_of(inner)
        return any(frames[-1].function.syntax is method and frames[-1].call is not asked.node
                   for frames in execution.entered)  # fmt: skip
    return any(one.owner is inner and one.node is not asked.node for one in execution.named(".set_epoch"))


def _set_epoch_of(sampler: Instance) -> ast.FunctionDef | None:
    """Returns the method that is told the epoch, where what it keeps is read by another one."""
    methods = [one for one in sampler.kind.kind.body if isinstance(one, ast.FunctionDef)]
    found = next((one for one in methods if one.name == "set_epoch"), None)
    kept = {node.attr for node in ast.walk(found) if _is_stored(node)} if found is not None else set()
    used = any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in kept
        for one in methods
        if one is not found
        for node in ast.walk(one)
    )
    return found if used else None


def _is_stored(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _trains_in(begun: Event, execution: Execution) -> bool:
    return any(one.name in _TRAINS and not one.without_gradients and within(one, begun) for one in execution.events)


def _shuffles(sampler: Made) -> bool:
    given = sampler.argument(3, "shuffle")
    return given is None or (isinstance(given, Const) and given.value is True)


def _goes_round(loop: OpenLoop) -> bool:
    """Whether a loop counts, and not over loaders, folds or settings."""
    over = loop.over
    if isinstance(over, Made) and over.name == "enumerate" and over.args:
        over = over.args[0]
    return over is None or (isinstance(over, Made) and over.name.rpartition(".")[2] in ("range", "trange", "count"))
