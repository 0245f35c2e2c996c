"""Reductions over a dimension that the ranks share, taken of one rank's part though others are over all. Pure.

Each function is read line by line on what `part_values` knows of a tensor; what it calls in the project is read with
it. What goes through a call that is not known is not followed, and a reduction that is given to one counts as told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from diagnostics.static.autograd.part_values import Misuse, Part, Reduction, either, joined
from diagnostics.static.autograd.plain_numbers import is_number, plain_numbers
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project

_SUMS = frozenset(["sum", "mean", "nansum", "nanmean", "prod", "max", "amax", "min", "amin"])
_EXTREMES = frozenset(["max", "amax", "min", "amin"])
_POSITIONAL = _SUMS | {"logsumexp", "softmax", "log_softmax"}  # their dimension may be given without its name
_CURVED = frozenset(["logsumexp", "softmax", "log_softmax", "std", "var", "norm", "vector_norm"])
_ALONG = frozenset(["softmax", "log_softmax"])  # their results have the dimension still
_BENDS = frozenset(["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "exp"])
_ELEMENTWISE = _BENDS | frozenset(
    ["float", "double", "half", "bfloat16", "to", "type", "type_as", "clone", "detach", "contiguous", "cuda", "cpu",
     "abs", "neg", "square", "pow", "clamp", "clamp_min", "clamp_max", "add", "sub", "mul", "div", "subtract",
     "multiply", "divide", "masked_fill", "where", "nan_to_num", "relu", "sigmoid", "tanh", "expm1", "true_divide",
     "requires_grad"]
)  # fmt: skip
_SHAPES = frozenset(["unsqueeze", "squeeze", "expand", "expand_as", "view_as", "reshape_as"])
_ARITHMETIC = {"add": ast.Add, "sub": ast.Sub, "subtract": ast.Sub, "div": ast.Div, "divide": ast.Div,
               "true_divide": ast.Div, "mul": ast.Mult, "multiply": ast.Mult}  # fmt: skip
_REDUCES = re.compile(r"all_?reduce|reduce_from_\w{0,40}region|psum|reduce_?from_?\w{0,40}region", re.IGNORECASE)
_RANKS = re.compile(r"world|num_proc|n_proc|num_ranks|n_ranks|num_gpu|n_gpu|tp_size|mp_size|n_shards|num_shards", re.I)
_CONSTANTS = (ast.Tuple, ast.List, ast.Constant)
_STACKED = frozenset(["stack", "cat", "concat", "unbind", "chunk", "split"])
_PICKED = frozenset(["gather", "view", "reshape", "flatten", "take_along_dim", "index_select"])
_NUMBERS = frozenset(["size", "numel", "dim", "item", "len", "int", "float", "get_rank", "get_world_size"])
_TELLS = frozenset(["print", "info", "debug", "warning", "save_for_backward", "size", "numel", "dim", "item"])
_DEPTH = 2
_NO = Part()
_OPAQUE = Part(opaque=True)


@dataclass(frozen=True, slots=True)
class OwnPart:
    """A reduction of one rank's part, used as `misuse` says, beside one of the same dimension over all ranks."""

    misuse: Misuse
    whole: Reduction


@dataclass(slots=True)
class _Reading:
    """One function as it is read: what its names hold, what it gave back, and which reductions went elsewhere."""

    function: Function
    project: Project
    depth: int
    told: set[Reduction]
    names: dict[str, Part] = field(default_factory=dict)
    given: list[Part] = field(default_factory=list)


def part_reductions(function: Function, project: Project) -> Iterator[OwnPart]:
    """Yields the reductions of a rank's own part that a function gives back within what is of the whole dimension."""
    called = {last_name(one.func).rstrip("_") for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)}
    if not called & (_SUMS | _CURVED | {"all_reduce"}):
        return  # neither side of the comparison is here
    reading = _Reading(function, project, _DEPTH, set())
    body = statements_of(function.syntax)
    _block(body if isinstance(body, list) else (), reading)
    found: dict[int, OwnPart] = {}
    for one in (each for given in reading.given for each in (given, *given.items)):
        for misuse in sorted(one.misuses, key=lambda each: _at(each.node)):
            own = misuse.own
            if own in reading.told or own in one.summed:
                continue
            whole = min(
                (each for each in one.summed if own.over_what(each)), key=lambda each: _at(each.node), default=None
            )
            if whole is None or (own.dim == "0" and not any(own.over_what(each) for each in own.after)):
                continue  # means of one's own samples are not wrong as such
            found.setdefault(id(own.node), OwnPart(misuse, whole))
    yield from sorted(found.values(), key=lambda one: _at(one.misuse.own.node))


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _block(statements: Sequence[ast.stmt], reading: _Reading) -> None:
    for one in statements:
        _statement(one, reading)


def _statement(one: ast.stmt, reading: _Reading) -> None:
    match one:
        case ast.Assign(targets=targets, value=value):
            made = _value(value, reading)
            for target in targets:
                _bind(target, made, reading)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _bind(target, _value(value, reading), reading)
        case ast.AugAssign(target=target, op=op, value=value):
            before = _value(target, reading)
            _bind(target, _combined(op, before, _value(value, reading), one, _names_ranks(value)), reading)
        case ast.Expr(value=value):
            _value(value, reading)
        case ast.Return(value=ast.expr() as value):
            reading.given.append(_value(value, reading))
        case ast.If():
            _branch(one, reading)
        case ast.For() | ast.AsyncFor() | ast.While() | ast.With() | ast.AsyncWith():
            _block(one.body, reading)
            _block(getattr(one, "orelse", []), reading)
        case ast.Try():
            _block([*one.body, *one.orelse, *one.finalbody], reading)


def _branch(one: ast.If, reading: _Reading) -> None:
    _value(one.test, reading)
    before = dict(reading.names)
    _block(one.body, reading)
    then = reading.names
    reading.names = before
    _block(one.orelse, reading)
    for name in then.keys() | reading.names.keys():
        unknown = Part(roots=frozenset([name]))
        one_way, other_way = then.get(name, unknown), reading.names.get(name, unknown)
        reading.names[name] = one_way if one_way == other_way else either(one_way, other_way)


def _bind(target: ast.expr, made: Part, reading: _Reading) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        rest = _OPAQUE if made.items else made  # rows of what was stacked
        parts = made.items if len(made.items) == len(target.elts) else (rest,) * len(target.elts)
        for one, part in zip(target.elts, parts, strict=True):
            _bind(one, part, reading)
    elif isinstance(target, (ast.Name, ast.Attribute)):
        text = ast.unparse(target)
        # What a call gave that is not known is a tensor of its own.
        reading.names[text] = Part(roots=frozenset([f"{text}:{target.lineno}"])) if made.opaque else made
    elif isinstance(target, ast.Subscript):  # `picked[mask] = 0.0`: the rest is what it was
        text = ast.unparse(target.value)
        reading.names[text] = joined((_value(target.value, reading), made.without_shape()))


def _value(node: ast.expr, reading: _Reading) -> Part:
    match node:
        case ast.Name() | ast.Attribute() if ast.unparse(node) in reading.names:
            return reading.names[ast.unparse(node)]
        case ast.Name(id=name):
            return _NO if name in plain_numbers(reading.function) else Part(roots=frozenset([name]))
        case ast.Attribute(value=value, attr="values" | "data"):
            return _value(value, reading)
        case ast.Attribute():
            return _NO if node.attr in ("shape", "ndim", "dtype", "device") else _OPAQUE
        case ast.UnaryOp(operand=operand):
            return _value(operand, reading)
        case ast.BinOp(left=left, op=op, right=right):
            ranks = _names_ranks(left) or _names_ranks(right)
            return _combined(op, _value(left, reading), _value(right, reading), node, ranks)
        case ast.IfExp(body=body, orelse=orelse):
            return either(_value(body, reading), _value(orelse, reading))
        case ast.NamedExpr(target=target, value=value):
            _bind(target, _value(value, reading), reading)
            return _value(target, reading)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return Part(items=tuple(_value(one, reading) for one in elts))
        case ast.Subscript(value=value, slice=index):
            return _taken(_value(value, reading), index)
        case ast.Call():
            return _called(node, reading)
    return _NO if isinstance(node, (ast.Constant, ast.Compare, ast.BoolOp)) else _OPAQUE


def _taken(held: Part, index: ast.expr) -> Part:
    if held.items and isinstance(index, ast.Constant) and isinstance(index.value, int):
        return held.items[index.value] if -len(held.items) <= index.value < len(held.items) else _OPAQUE
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    kept = all(
        (isinstance(one, ast.Constant) and one.value in (None, Ellipsis))
        or (isinstance(one, ast.Slice) and one.lower is one.upper is one.step is None)
        for one in parts
    )
    return replace(held, roots=frozenset(), items=()) if kept else held.without_shape()


def _names_ranks(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant) and bool(_RANKS.search(ast.unparse(node)))


def _combined(op: ast.operator, left: Part, right: Part, node: ast.AST, ranks: bool) -> Part:
    both = joined((left, right))
    misuses = set(both.misuses)
    if isinstance(op, (ast.Add, ast.Sub)):
        for whole, part in ((left, right), (right, left)):
            misuses |= {
                Misuse(one, "added", node) for one in part.own if whole.is_whole(one) and not part.roots & one.roots
            }
    elif isinstance(op, (ast.Div, ast.FloorDiv)):
        misuses |= {Misuse(one, "bent", node) for one in right.own if one.kind not in _EXTREMES}
    elif isinstance(op, (ast.MatMult, ast.LShift, ast.RShift)):
        return _OPAQUE
    shared = both.shared or (ranks and isinstance(op, (ast.Mult, ast.Div)))
    return replace(both, misuses=frozenset(misuses), shared=shared)


def _called(call: ast.Call, reading: _Reading) -> Part:
    name = last_name(call.func)
    given = [_value(one, reading) for one in call.args]
    named = [_value(one.value, reading) for one in call.keywords]
    whole = bool(_REDUCES.search(ast.unparse(call.func)))
    if whole or (
        name not in _NUMBERS and reading.project.name(call.func, reading.function).startswith("torch.distributed.")
    ):
        return _exchanged(call, [*given, *named], whole, reading)
    targets = reading.project.targets(call, reading.function) or _of_class(call, reading)
    if len(targets) == 1 and reading.depth and not isinstance(targets[0].syntax, ast.Module):
        return _entered(call, targets[0], dict(zip(map(id, call.args), given, strict=True)), reading)
    subject = None if targets else _subject(call, reading)
    if subject is not None:
        held = given[0] if call.args and subject is call.args[0] else _value(subject, reading)
        others = [one for one, node in zip(given, call.args, strict=True) if node is not subject] + named
        made = _by_torch(call, name.rstrip("_"), subject, held, others, reading)
        if made is not None:
            return made
        if name == "backward":
            reading.given.append(held)
    if name not in _TELLS:
        _tell([*given, *named], reading)
        for node in call.args:
            if isinstance(node, ast.Name) and node.id in reading.names and reading.names[node.id].own:
                reading.names[node.id] = _OPAQUE  # it may be reduced there, in place
    return _NO if name in _NUMBERS else _OPAQUE


def _of_class(call: ast.Call, reading: _Reading) -> tuple[Function, ...]:
    """Returns the static method of a class in the same file that a call names: `Loss.largest(logits)`."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return ()
    owner, name = call.func.value.id, call.func.attr
    own = reading.project.functions_in(reading.project.file_with(reading.function))
    return tuple(
        one
        for one in own
        if one.owner is not None and one.owner.name == owner and not one.implied and one.name == f"{owner}.{name}"
    )


def _tell(given: Sequence[Part], reading: _Reading) -> None:
    reading.told |= {each for one in given for part in (one, *one.items) for each in part.direct}


def _by_torch(
    call: ast.Call, plain: str, subject: ast.expr, held: Part, others: list[Part], reading: _Reading
) -> Part | None:
    """Returns what an operation of torch makes of a tensor, None where that is none that is followed."""
    if plain in _SUMS or plain in _CURVED:
        return _reduced(call, plain, subject, held, others, reading)
    if plain in _ELEMENTWISE:
        return _elementwise(call, plain, subject, held, others, reading)
    if plain in _SHAPES:
        return replace(held, roots=frozenset(), items=())
    if plain in _STACKED:
        return replace(joined(held.items or (held,)), roots=frozenset())
    return held.without_shape() if plain in _PICKED else None


def _exchanged(call: ast.Call, given: list[Part], whole: bool, reading: _Reading) -> Part:
    """Hands a value to the other ranks: what is reduced in place is from then on that of all."""
    _tell(given, reading)
    subject = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "tensor"), None)
    if subject is None or not whole:
        return _OPAQUE
    after = _value(subject, reading).over_ranks()
    if isinstance(subject, (ast.Name, ast.Attribute)):
        reading.names[ast.unparse(subject)] = after
    return after


def _subject(call: ast.Call, reading: _Reading) -> ast.expr | None:
    """Returns the tensor that a method or a function of torch works on."""
    if reading.project.name(call.func, reading.function).startswith("torch."):
        named = (one.value for one in call.keywords if one.arg in ("input", "x", "tensors"))
        return call.args[0] if call.args else next(named, None)
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _reduced(call: ast.Call, kind: str, subject: ast.expr, held: Part, others: list[Part], reading: _Reading) -> Part:
    rest = [one for one in call.args if one is not subject]
    dim = next((one.value for one in call.keywords if one.arg in ("dim", "axis")), None)
    if dim is None and kind in _POSITIONAL and rest and is_number(rest[0]):
        dim = rest[0]
    if dim is None and kind in _EXTREMES and len(rest) == 1:  # the larger one of two
        return joined((held, others[0]))
    if dim is None or not held.roots or (isinstance(dim, _CONSTANTS) and not is_number(dim)):
        return held.without_shape()
    one = Reduction(kind, ast.unparse(call), ast.unparse(dim), held.roots, held.summed, call, reading.function)
    bent = {Misuse(one, "bent", call)} if kind in _CURVED else set()
    kept = replace(held, roots=held.roots if kind in _ALONG else frozenset(), items=())
    made = replace(kept, direct=frozenset([one]), own=held.own | {one}, misuses=held.misuses | bent)
    return replace(made, items=(made, _NO)) if kind in ("max", "min") else made


def _elementwise(
    call: ast.Call, plain: str, subject: ast.expr, held: Part, others: list[Part], reading: _Reading
) -> Part:
    if plain in _ARITHMETIC and others:
        ranks = any(_names_ranks(one) for one in call.args if one is not subject)
        made = _combined(_ARITHMETIC[plain](), held, others[0], call, ranks)
    else:
        made = joined((held, *(one for one in others if not one.opaque)))
    if plain in _BENDS:
        bent = {Misuse(one, "bent", call) for one in made.own if one.kind not in _EXTREMES}
        made = replace(made, misuses=made.misuses | bent)
    out = next((one.value for one in call.keywords if one.arg == "out"), None)
    if out is not None or (isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_")):
        _bind(out or subject, made, reading)
    return made


def _entered(call: ast.Call, target: Function, given: dict[int, Part], reading: _Reading) -> Part:
    """Reads a function of the project with what a call gives it."""
    names = dict(zip(target.parameters[target.implied :], call.args, strict=False))
    names |= {one.arg: one.value for one in call.keywords if one.arg}
    held = {name: given[id(one)] if id(one) in given else _value(one, reading) for name, one in names.items()}
    inner = _Reading(target, reading.project, reading.depth - 1, reading.told, dict(held))
    body = statements_of(target.syntax)
    _block(body if isinstance(body, list) else (), inner)
    for name, one in names.items():  # what was reduced in place, of a name that was not bound anew
        if isinstance(one, ast.Name) and name not in target.assigned and name in inner.names:
            reading.names[one.id] = inner.names[name]
    if not inner.given:
        _tell(list(held.values()), reading)
        return _OPAQUE
    made = inner.given[0]
    for other in inner.given[1:]:
        made = either(made, other)
    return _OPAQUE if all(one.opaque for one in inner.given) else made
