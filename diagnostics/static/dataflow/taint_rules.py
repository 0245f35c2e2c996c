"""What a reason becomes on its way, and which names and forms say that ranks agree. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import DATA, LOSS, LOSS_NAME, RANK, Taint
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.functions import Function, last_name

# Calls after which every rank has the same.
AGREEING = re.compile(
    r"all_?reduce|all_?gather|^broadcast|gather_for_metrics|reduce_mean|reduce_tensor|^reduce_|sync_?across|^agree"
    r"|^synchroni[sz]e_|reduce_dict|reduce_boolean_decision|^distribute_|across_(?:ranks|processes)",
    re.IGNORECASE,
)
EVEN = re.compile(r"DistributedSampler$|DistributedBatchSampler$")

# What says where something lies, and not what it is.
_PLACES = {"to", "cuda", "xpu", "npu"}
_ABOVE = {ast.Gt: 1, ast.GtE: 2, ast.NotEq: 1}  # `world_size > 1`, `>= 2`, `!= 1`
_BELOW = {ast.LtE: 1, ast.Lt: 2, ast.Eq: 1}
_PLACED_BY = {"device", "device_ids", "output_device", "map_location", "device_map", "device_id"}


def as_data(taint: Taint) -> Taint:
    """Returns a taint by the rank as one by what the rank reads."""
    return replace(taint, why=DATA) if taint.why == RANK and not taint.control else taint


def content(taint: Taint) -> Taint:
    """Returns a taint of what was changed on a way that only some ranks take as one of content."""
    return as_data(replace(taint, control=False))


def called_loss(taint: Taint, name: str) -> Taint:
    """Returns a taint of what is read off a tensor as one by the loss where the name says that it is one."""
    if taint.why == DATA and LOSS_NAME.search(name) and isinstance(taint.syntax, ast.Call):
        return replace(taint, why=LOSS)
    return taint


def is_share(value: ast.AST) -> bool:
    """Whether it is the part of some data that a rank takes: other content and length, no choice by the rank."""
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return any(generator.ifs for generator in value.generators)
    return isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)


def agrees(name: str) -> bool:
    """Whether what a call of this name returns is the same on every rank."""
    return AGREEING.search(name) is not None or EVEN.search(name) is not None


def importance(taint: Taint) -> tuple[int, int]:
    """Returns what the strongest reason is the largest in."""
    return taint.weight, not taint.control


def statements_of(block: ast.AST, function: Function | None = None) -> Iterator[ast.AST]:
    """Yields the statements in a block, without functions inside; with `function`, what is added behind a way out."""
    yield from _added_behind(block, function) if function is not None else ()
    waiting = [*getattr(block, "body", ()), *getattr(block, "orelse", ())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        yield node
        if not isinstance(node, ast.expr):
            waiting += [one for one in children(node) if not isinstance(one, ast.expr)]


def _added_behind(block: ast.AST, function: Function) -> Iterator[ast.AST]:
    """Yields what is added to a list behind `if nothing: return`, which the ranks that leave there do not add."""
    if not (isinstance(block, ast.If) and not block.orelse and isinstance(block.body[-1], (ast.Return, ast.Continue))):
        return
    holders = (function.syntax, *function.nodes_of((ast.For, ast.While, ast.If, ast.With)))
    for suite in (getattr(one, part, None) for one in holders for part in ("body", "orelse")):
        at = next((n for n, one in enumerate(suite) if one is block), None) if isinstance(suite, list) else None
        for one in suite[at + 1 :] if at is not None and isinstance(suite, list) else ():
            called = one.value.func if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in ("append", "extend"):
                yield one


def is_none(value: ast.expr) -> bool:
    """Whether it is the literal None."""
    return isinstance(value, ast.Constant) and value.value is None


def base_name(value: ast.expr) -> str:
    """Returns the name that a chain of attributes and items begins with."""
    while isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred)):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def is_placement(target: ast.expr) -> bool:
    """Whether it is an item like `settings["device_ids"]`."""
    key = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(key, ast.Constant) and key.value in _PLACED_BY


def arguments_of(call: ast.Call) -> Iterator[ast.expr]:
    """Yields the arguments of a call that change the value of what it returns, and not only its device."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _PLACES):
        yield from call.args
    yield from (one.value for one in call.keywords if one.arg not in _PLACED_BY)


def parts_of(value: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of an expression that change its value where several ranks run."""
    if isinstance(value, ast.IfExp):
        yield from (value.test, *ways_of_several(value))
        return
    if not isinstance(value, ast.Dict):
        yield from children(value)
        return
    for key, one in zip(value.keys, value.values, strict=True):
        if not (isinstance(key, ast.Constant) and key.value in _PLACED_BY):
            yield from filter(None, (key, one))


def returned_item(function: Function, at: int, count: int) -> tuple[ast.expr, ...]:
    """Returns the item at this place of each tuple that a function returns; () where one returns no such tuple."""
    returned = [node.value for node in function.nodes_of(ast.Return) if isinstance(node, ast.Return)]
    tuples = [value.elts for value in returned if isinstance(value, ast.Tuple) and len(value.elts) == count]
    return tuple(items[at] for items in tuples) if len(tuples) == len(returned) else ()


def adds_key(item: ast.Subscript, block: ast.AST, function: Function) -> bool:
    """Whether setting an item adds a key to a mapping which is not there where the block is left out."""
    made = function.assigned.get(item.value.id, ()) if isinstance(item.value, ast.Name) else ()
    mapping = bool(made) and all(isinstance(one, ast.Dict) and not one.keys for one in made)
    if not _is_key(item.slice) and not mapping:
        return False
    arms = [_items_set(getattr(block, name, ())) for name in ("body", "orelse")]
    return ast.unparse(item) not in arms[0] & arms[1]


def _items_set(statements: Iterable[ast.stmt]) -> set[str]:
    return {ast.unparse(target) for one in statements if isinstance(one, ast.Assign) for target in one.targets}


def _is_key(index: ast.AST) -> bool:
    """Whether an index can only be the key of a mapping."""
    return isinstance(index, ast.JoinedStr) or (isinstance(index, ast.Constant) and isinstance(index.value, str))


def parameter_at(position: int, function: Function) -> str:
    """Returns the parameter that takes this positional argument, which may be `*args`; "" where none does."""
    if isinstance(function.syntax, ast.Module):
        return ""
    given = function.syntax.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    rest = given.vararg.arg if given.vararg is not None else ""
    return names[position] if position < len(names) else rest


def holds_for_several(test: ast.expr) -> bool | None:
    """Returns how a test falls where several ranks run, None where it asks for something else as well."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = holds_for_several(operand)
            return None if found is None else not found
        case ast.BoolOp(op=op, values=values):
            told = [holds_for_several(one) for one in values]
            ending = isinstance(op, ast.Or)
            if ending in told:
                return ending
            return None if None in told else not ending
        case ast.Compare(left=left, ops=[asked], comparators=[ast.Constant(value=number)]):
            if not rank_words.WORLD_SIZE.match(last_name(left)):
                return None
            return True if _ABOVE.get(type(asked)) == number else False if _BELOW.get(type(asked)) == number else None
        case ast.Name() | ast.Attribute() | ast.Call():
            return True if rank_words.DISTRIBUTED.match(last_name(test)) else None
        case _:
            return None


def ways_of_several(value: ast.IfExp) -> tuple[ast.expr, ...]:
    """Returns what a choice may come to where several ranks run: `summed(loss) if world_size > 1 else loss`."""
    told = holds_for_several(value.test)
    return (value.body, value.orelse) if told is None else (value.body if told else value.orelse,)


def is_layout(value: ast.Attribute) -> bool:
    """Whether what is read of a tensor is how it lies in memory or over the ranks, which is the same on each.

    The shape of a batch by its own name may differ: the last one is shorter.
    """
    if value.attr in ("placements", "device_mesh", "_spec"):
        return True
    about = value.attr in ("shape", "dtype", "device", "ndim", "requires_grad")
    return about and not isinstance(value.value, ast.Name)
