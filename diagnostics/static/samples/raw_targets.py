"""Windows of a series that are scaled by their own statistics, beside targets of the same series that are not. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.training_loops import backwards

_SCALES = frozenset(["fit_transform", "transform", "normalize", "normalise", "standardize", "standardise", "encode"])
_BACK = re.compile(r"inverse|denorm|unnorm|destandard|unstandard|unscale|descale|decode$", re.IGNORECASE)
_STATISTICS = frozenset(["mean", "std", "var", "min", "max", "median", "amax", "amin"])
_MODEL = re.compile(r"^self$|net$|model|module$|forecaster", re.IGNORECASE)
_SHAPES = frozenset(["squeeze", "unsqueeze", "view", "reshape", "flatten", "to", "cpu", "float", "detach", "numpy"])
_CONVERTS = _SHAPES | {"tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor", "array", "asarray", "astype",
                       "clone", "copy", "contiguous"}  # fmt: skip
_GIVES = (ast.Return, ast.Yield)
_DEPTH = 3


@dataclass(frozen=True, slots=True, eq=False)
class ScaledWindow:
    """Where a function scales a window, by what, and the target of the same series that it gives as it is."""

    scaled: ast.expr
    target: ast.expr
    function: Function
    by: frozenset[str]  # names of the statistics, or of the object that holds them
    keys: frozenset[str]  # under which they are given with the sample


@dataclass(frozen=True, slots=True, eq=False)
class RawTarget:
    """A scaled window, the loss that compares a plain output with the raw target, and where outputs are scaled back."""

    window: ScaledWindow
    loss: ast.AST
    trains: Function
    back: ast.expr
    predicts: Function


def raw_targets(function: Function, project: Project) -> Iterator[RawTarget]:
    """Yields the windows whose targets stay raw although outputs are scaled back elsewhere."""
    window = next(_windows(function), None)
    if window is None:
        return
    backs = [(one, where) for where in project.functions for one in _scaled_back(window, where)]
    outside = [(one, where) for one, where in backs if where.name.rpartition(".")[2] != "forward"]
    if not outside or len(outside) != len(backs):
        return  # a model that scales its own outputs back is trained on the raw scale, as it should be
    trained = [one for where in project.functions for one in _plain_losses(where)]
    losses = [one for where in project.functions for one in backwards(where)]
    if trained and len(trained) == len(losses):
        yield RawTarget(window, *trained[0], *outside[0])


def _windows(function: Function) -> Iterator[ScaledWindow]:
    given = [node for node in function.nodes_of((*_GIVES, ast.Call)) if _gives(node)]
    for node in function.nodes_of((ast.Call, ast.BinOp)) if given else ():
        if not isinstance(node, ast.expr) or (found := _scaling(node)) is None:
            continue
        operand, by = found
        series = _series(operand, function)
        if series is None or not _is_of_window(node, operand, by, function):
            continue
        target = next(_targets(series, given, function), None)
        if target is not None:
            yield ScaledWindow(node, target, function, by, frozenset(_keys(by, function)))


def _gives(node: ast.AST) -> bool:
    is_append = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
    return isinstance(node, _GIVES) or is_append


def _scaling(node: ast.expr) -> tuple[ast.expr, frozenset[str]] | None:
    """Returns (what is scaled, names by which) of `normalizer.transform(x)` and `(x - mean) / std`."""
    match node:
        case ast.Call(func=ast.Attribute(value=scaler, attr=attr), args=[operand, *_]) if attr in _SCALES:
            name = last_name(scaler)
            return (operand, frozenset([name])) if name and name not in ("F", "functional", "torch") else None
        case ast.BinOp(left=ast.BinOp(left=operand, op=ast.Sub(), right=center), op=ast.Div(), right=scale):
            names = {
                last_name(one)
                for side in (center, scale)
                for one in walk(side)
                if isinstance(one, (ast.Name, ast.Attribute))
            }
            return operand, frozenset(names - {"self", ""})
    return None


def _series(operand: ast.expr, function: Function) -> tuple[str, str] | None:
    """Returns (series, place) of which a value is a window: `data[s]` and `a:b` of `data[s][a:b]`."""
    values = [operand]
    if isinstance(operand, ast.Name):
        values = list(function.assigned.get(operand.id, ()))
    for value in values:
        for node in walk(value):
            if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript)):
                return ast.unparse(node.value), ast.unparse(node.slice)
    return None


def _is_of_window(node: ast.expr, operand: ast.expr, by: frozenset[str], function: Function) -> bool:
    """Whether a window is scaled by its own statistics: fitted to it here."""
    if isinstance(node, ast.Call):
        if last_name(node.func).startswith("fit"):
            return True
        calls = (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call))
        fits = [one for one in calls if last_name(one.func) == "fit" and isinstance(one.func, ast.Attribute)]
        return any(
            isinstance(one.func, ast.Attribute)
            and last_name(one.func.value) in by
            and [ast.unparse(arg) for arg in one.args[:1]] == [ast.unparse(operand)]
            for one in fits
        )
    text = ast.unparse(operand)
    for value in (one for name in by for one in function.assigned.get(name, ())):
        for call in walk(value):
            match call:
                case ast.Call(func=ast.Attribute(value=held, attr=attr)) if attr in _STATISTICS:
                    if ast.unparse(held) == text or text in {ast.unparse(one) for one in call.args}:
                        return True
    return False


def _targets(series: tuple[str, str], given: list[ast.AST], function: Function) -> Iterator[ast.expr]:
    """Yields what a function gives of the same series as it is, of another place than the window."""
    scaled = {ast.unparse(one[0]) for node in function.nodes_of((ast.Call, ast.BinOp)) if isinstance(node, ast.expr)
              and (one := _scaling(node)) is not None}  # fmt: skip
    parts = [_without_conversions(part) for node in given for part in _parts(node)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    raw = [(name, value) for name in names for value in function.assigned.get(name, ())]
    raw += [("", part) for part in parts]
    for name, value in raw:
        if len(function.assigned.get(name, ())) > 1 or name in scaled or ast.unparse(value) in scaled:
            continue
        plain = _without_conversions(value)
        if ast.unparse(plain) in scaled:
            continue
        whole, place = series
        if isinstance(plain, ast.Subscript) and ast.unparse(plain.value) == whole:
            yield from [value] if ast.unparse(plain.slice) != place else []


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    value = node.args[0] if isinstance(node, ast.Call) and node.args else getattr(node, "value", None)
    if isinstance(value, ast.Tuple):
        yield from value.elts
    elif isinstance(value, ast.Dict):
        yield from value.values
    elif isinstance(value, ast.expr):
        yield value


def _without_conversions(value: ast.expr) -> ast.expr:
    """Returns what `torch.tensor(x)`, `x.float()` and the like stand around."""
    while isinstance(value, ast.Call) and last_name(value.func) in _CONVERTS:
        inside = value.args[0] if value.args else value.func.value if isinstance(value.func, ast.Attribute) else None
        if inside is None:
            break
        value = inside
    return value


def _keys(by: frozenset[str], function: Function) -> Iterator[str]:
    """Yields the keys under which a function gives the statistics: `{"target_scale": normalizer.params}`."""
    for node in function.nodes_of((ast.Dict, ast.Call)):
        pairs: list[tuple[object, ast.expr]] = []
        if isinstance(node, ast.Dict):
            pairs = [
                (key.value, one)
                for key, one in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            ]
        elif isinstance(node, ast.Call):
            pairs = [(one.arg, one.value) for one in node.keywords if one.arg]
        for key, value in pairs:
            held = {last_name(one) for one in walk(value) if isinstance(one, (ast.Name, ast.Attribute))}
            if held & by and not any(_scaling(one) for one in walk(value) if isinstance(one, ast.expr)):
                yield str(key)


def _scaled_back(window: ScaledWindow, function: Function) -> Iterator[ast.expr]:
    """Yields where the output of a model is scaled back by the statistics of the window."""
    for node in function.nodes_of((ast.Call, ast.BinOp)):
        match node:
            case ast.Call(func=ast.Attribute(value=scaler, attr=attr), args=[value, *_]) if _BACK.search(attr):
                if last_name(scaler) in window.by and _is_output(value, function):
                    yield node
            case ast.BinOp(left=ast.BinOp(left=value, op=ast.Mult(), right=scale), op=ast.Add(), right=center):
                if _is_output(value, function) and all(_is_of(side, window, function) for side in (scale, center)):
                    yield node


def _is_of(value: ast.expr, window: ScaledWindow, function: Function, depth: int = _DEPTH) -> bool:
    """Whether a value is one of the statistics of the window, or what was given with the sample under their key."""
    for node in walk(value):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(key))) if key in window.keys:
                return True
            case ast.Attribute(attr=attr) if attr in window.keys | window.by:
                return True
            case ast.Name(id=name):
                if name in window.by:
                    return True
                if depth and any(_is_of(one, window, function, depth - 1) for one in function.assigned.get(name, ())):
                    return True
    return False


def _is_output(value: ast.expr, function: Function) -> bool:
    """Whether a value is what a model gave: `model(x)`, `self(x)`, or a name for it; also in another shape."""
    made = function.assigned.get(value.id, ()) if isinstance(value, ast.Name) else (value,)
    for one in made:
        while True:
            if isinstance(one, ast.Subscript):
                one = one.value
            elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _SHAPES:
                one = one.func.value
            else:
                break
        if isinstance(one, ast.Call) and one.args and _MODEL.search(last_name(one.func)):
            return True
    return False


def _plain_losses(function: Function) -> Iterator[tuple[ast.AST, Function]]:
    """Yields once for each backward whose loss compares a model's output with a target, both as they are."""
    for backward in backwards(function):
        values = [value for name in backward.names for value in function.assigned.get(name, ())]
        plain = next((one for value in values for one in walk(value) if _compares(one, function)), None)
        if plain is not None:
            yield plain, function


def _compares(node: ast.AST, function: Function) -> bool:
    if not (isinstance(node, ast.Call) and len(node.args) == 2 and _is_output(node.args[0], function)):
        return False
    target = node.args[1]
    return isinstance(target, ast.Name) and not _is_scaled(target.id, function)


def _is_scaled(name: str, function: Function) -> bool:
    """Whether a function computes a name: the target of a loss may be scaled on the way to it."""
    return any(
        isinstance(node, ast.BinOp) or (isinstance(node, ast.expr) and _scaling(node) is not None)
        for value in function.assigned.get(name, ())
        for node in walk(value)
    )
