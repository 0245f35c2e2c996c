"""Statements that change a tensor in place, by the name autograd gives the change. Pure.

`RuntimeError: ... which is output 0 of ReluBackward0, is at version 1; expected version 0` names the last change made
by an operation autograd knows: ReluBackward0 for `relu_` and `F.relu(inplace=True)`, CopySlices for `x[...] = `.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import (
    Function,
    SourceSite,
    called_name,
    entered_classes,
    parents,
    source_files_of,
)
from diagnostics.static.program.ast_walk import walk

_AUGMENTED = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.MatMult: "mm"}
_NOT_TENSORS = {"requires_grad_", "_", "__"}
_SETTINGS = re.compile(r"^(?:xavier|kaiming|trunc_normal|orthogonal|normal|uniform|zeros|ones|constant|eye)_")
_NO_GRADIENTS = re.compile(r"\b(?:no_grad|inference_mode)\b")
_COUNTED = re.compile(r"\.item\(\)|^(?:float|int|len|time)\b|perf_counter|^\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class InplaceSite:
    """One change in place. `operation` is "relu", "copy_slices", "optimizer"...; `score` says how well it fits."""

    location: str
    text: str
    operation: str
    score: int


def changes(job: Job, process: JobProcess, operation: str) -> tuple[InplaceSite, ...]:
    """Returns the statements that may have changed the tensor, best first; `operation` as autograd names it."""
    wanted = re.sub(r"Backward\d*$", "", operation).lower()
    reached = _reached(job, process)
    found: dict[str, InplaceSite] = {}
    for file in source_files_of(job, process):
        tree = job.sources.file(file).tree
        if tree is None:
            continue
        above, stepped = parents(tree), _optimizers(tree)
        for node in walk(tree):
            kind = _kind(node) or ("optimizer" if _steps(node) in stepped else "")
            if not kind or _is_counter(node, above):
                continue
            score = _score(node, kind, wanted, above, reached) - _comes_too_late(job, process, file, node)
            place = SourceSite(file=file, node=node).location(job)
            if score > 0 and (place not in found or found[place].score < score):
                text = ast.unparse(node)[:120]
                found[place] = InplaceSite(location=place, text=text, operation=kind, score=score)
    return tuple(sorted(found.values(), key=lambda one: -one.score))


def _kind(node: ast.AST) -> str:
    """Returns the operation by which a node changes a tensor, "" where it does not."""
    if isinstance(node, ast.AugAssign):
        return "copyslices" if isinstance(node.target, ast.Subscript) else _AUGMENTED.get(type(node.op), "")
    if isinstance(node, ast.Assign) and any(_is_tensor_item(target) for target in node.targets):
        return "copyslices"
    if not isinstance(node, ast.Call):
        return ""
    name, words = called_name(node), {word.arg: word.value for word in node.keywords}
    inplace = words.get("inplace")
    if isinstance(inplace, ast.Constant) and inplace.value is True:
        return name.lower()
    if "out" in words and not isinstance(words["out"], ast.Constant):
        return name.lower()
    if isinstance(node.func, ast.Attribute) and name.endswith("_") and not name.startswith("_"):
        return "" if name in _NOT_TENSORS or (_SETTINGS.match(name) and _is_init(node.func)) else name.rstrip("_")
    return ""


def _steps(node: ast.AST) -> str:
    """Returns what `.step()` is called on."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
    return ast.unparse(node.func.value) if called else "-"  # type: ignore[attr-defined]


def _optimizers(tree: ast.AST) -> set[str]:
    """What a file calls its optimizers: they also clear gradients, or have the name."""
    calls = [node for node in walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    cleared = {ast.unparse(c.func.value) for c in calls if c.func.attr == "zero_grad"}  # type: ignore[attr-defined]
    return cleared | {name for name in map(_steps, calls) if "opt" in name.lower()}


def _is_tensor_item(target: ast.expr) -> bool:
    """`x[:, 0] = ...`, but not `metrics["loss"] = ...`."""
    if not isinstance(target, ast.Subscript):
        return False
    key = target.slice
    return not (isinstance(key, ast.Constant) and isinstance(key.value, str)) and "environ" not in ast.unparse(target)


def _is_init(function: ast.Attribute) -> bool:
    return "init" in ast.unparse(function.value)


def _is_counter(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """`step += 1`, `total += loss.item()`: numbers of Python, which autograd does not know."""
    if not isinstance(node, ast.AugAssign) or isinstance(node.target, ast.Subscript):
        return False
    if _COUNTED.search(ast.unparse(node.value)) and not isinstance(node.value, ast.Constant):
        return True
    target, function = ast.unparse(node.target), _function(node, above)
    scope: ast.AST | None = function
    while scope is None or not isinstance(scope, ast.Module):
        scope = above.get(scope if scope is not None else node)
        if scope is None:
            break
    for other in walk(function if function is not None else scope or node):
        assigned = isinstance(other, ast.Assign) and any(ast.unparse(name) == target for name in other.targets)
        if assigned and isinstance(other.value, (ast.Constant, ast.List, ast.Dict, ast.JoinedStr)):  # type: ignore[attr-defined]
            return True
    return False


def _function(node: ast.AST, above: dict[ast.AST, ast.AST]) -> Function | None:
    outer: ast.AST | None = node
    while outer is not None and not isinstance(outer, Function):
        outer = above.get(outer)
    return outer


def _reached(job: Job, process: JobProcess) -> tuple[set[str], set[str]]:
    """Returns (classes whose forward ran, functions the exception came through)."""
    frames = process.uncaught.user_path if process.uncaught is not None else ()
    classes = {name.rpartition(".")[2] for name in entered_classes(process)}
    return classes, {frame.function.rpartition(".")[2] for frame in frames}


def _score(
    node: ast.AST, kind: str, wanted: str, above: dict[ast.AST, ast.AST], reached: tuple[set[str], set[str]]
) -> int:
    function = _function(node, above)
    name = function.name if function is not None else "<module>"
    outer: ast.AST | None = function
    while outer is not None and not isinstance(outer, ast.ClassDef):
        outer = above.get(outer)
    in_model = isinstance(outer, ast.ClassDef) and outer.name in reached[0]
    if name == "__init__" and not _is_inplace_module(node):
        return 0
    score = 3 if in_model and name != "__init__" else 2 if in_model or name in reached[1] else 1
    unknown_to_autograd = kind == "optimizer" or _without_gradients(node, above)
    if unknown_to_autograd:
        # A parameter changed: autograd then names the view of it that was saved, T() or AsStrided, or nothing.
        return score + 5 if wanted in ("", "t", "asstrided", "transpose", "permute") else 1
    same = kind == wanted or wanted.startswith(kind) or (kind in ("add", "sub") and wanted in ("add", "sub"))
    return score + 6 if same and wanted else score


def _comes_too_late(job: Job, process: JobProcess, file: str, node: ast.AST) -> int:
    """1 where the statement stands at or after the line that failed: it may only have run in an earlier turn."""
    failed = [frame.line for frame in (process.uncaught.user_path if process.uncaught else ()) if frame.file == file]
    function = job.sources.file(file).function_at(failed[0]) if failed else None
    first, last = (function.lineno, function.end_lineno or 0) if function is not None else (0, 1 << 30)
    at = getattr(node, "lineno", 0)
    return int(bool(failed) and first <= at <= last and at >= failed[0])


def _is_inplace_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(word.arg == "inplace" for word in node.keywords)


def _without_gradients(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """`p.data.add_(...)`, or inside `with torch.no_grad():`, or in a function that is decorated so."""
    if ".data" in ast.unparse(node):
        return True
    outer = above.get(node)
    while outer is not None:
        given = [item.context_expr for item in outer.items] if isinstance(outer, ast.With) else []
        given += outer.decorator_list if isinstance(outer, Function) else []
        if any(_NO_GRADIENTS.search(ast.unparse(one)) for one in given):
            return True
        outer = above.get(outer)
    return False
