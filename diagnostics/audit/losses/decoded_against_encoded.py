"""The output of a model is turned back into its physical units, and compared with targets that are still normalised.

What it does: flags a loss of `norm.decode(model(x))` (also inverse, inverse_transform, denormalize, unnormalize) and
the target of a loader's batch, where the data set of that loader was given `norm.encode(y)` (also transform,
normalize), and the target is not decoded in between.

Why it matters: the model learns to undo the decoding. Measured against targets in their units it predicts numbers near
0, and the loss of the training looks fine.

Bad:

    train = DataLoader(TensorDataset(x, norm.encode(y)))
    for x, y in train:
        loss = criterion(norm.decode(model(x)), y)

Good:

    for x, y in train:
        loss = criterion(norm.decode(model(x)), norm.decode(y))

What it cannot see: targets that a data set normalises in `__getitem__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import training_loops

CODE = "A384"
NAME = "decoded-against-encoded"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
_BACK = {"decode": "encode", "inverse_transform": "transform", "inverse": "normalize", "denormalize": "normalize",
         "unnormalize": "normalize", "denorm": "norm", "inverse_normalize": "normalize", "unscale": "scale",
         "descale": "scale"}  # fmt: skip
WORDS = tuple(_BACK)
CHECKLIST = "outputs and targets of a loss are in the same units"
_FORTH = frozenset(["encode", "transform", "fit_transform", "normalize", "norm", "scale", "forward"])
_SAME = frozenset(["to", "cuda", "float", "view", "reshape", "squeeze", "unsqueeze", "flatten", "contiguous"])
_ROUNDS = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses of a decoded output and a target that is not."""
    for function in () if file.is_test else project.functions_in(file):
        for training in training_loops(function, file):
            loop = training.loop
            if not isinstance(loop, ast.For):
                continue
            for call in walk(loop):
                if not isinstance(call, ast.Call) or len(call.args) < 2 or last_name(call.func) in _BACK:
                    continue
                found = _mixed(call, loop, function, project)
                if found is None or not _is_backed(call, loop, training.losses):
                    continue
                decoded, target, encoded, where = found
                yield violation(
                    file,
                    call,
                    f"'{ast.unparse(decoded)[:50]}' is in the units of the data and '{target}' is still normalised: "
                    "the model learns to undo the decoding",
                    f"decode '{target}' as well, or neither of both",
                    steps=(
                        step(file, decoded, "the output is decoded here"),
                        step(project.file_with(where), encoded, "what the data set holds is normalised"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _mixed(
    call: ast.Call, loop: ast.For, function: Function, project: Project
) -> tuple[ast.Call, str, ast.AST, Function] | None:
    """Returns (what decodes, the target, what encoded it, where) of a call that is given an output and a target."""
    for one, other in (call.args[:2], call.args[1::-1]):
        decoded = _decoded(one, loop)
        target = _bare(other)
        if decoded is None or target is None or not isinstance(decoded.func, ast.Attribute):
            continue
        at = _place(target.id, loop)
        if at is None or _set_again(target.id, loop):
            continue
        owner = ast.unparse(decoded.func.value)
        for encoded, where in _held(_iterated(loop.iter), at, function, project):
            if isinstance(encoded.func, ast.Attribute) and ast.unparse(encoded.func.value) == owner:
                return decoded, target.id, encoded, where
    return None


def _decoded(value: ast.expr, loop: ast.For) -> ast.Call | None:
    """Returns the call that decodes a value, by its name too."""
    value = _stripped(value)
    if isinstance(value, ast.Name):
        made = [node for node in walk(loop) if isinstance(node, ast.Assign)
                and any(isinstance(one, ast.Name) and one.id == value.id for one in node.targets)]  # fmt: skip
        if not made:
            return None
        value = _stripped(max(made, key=lambda one: one.lineno).value)
    return value if isinstance(value, ast.Call) and last_name(value.func) in _BACK and value.args else None


def _stripped(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return value


def _bare(value: ast.expr) -> ast.Name | None:
    value = _stripped(value)
    return value if isinstance(value, ast.Name) else None


def _place(name: str, loop: ast.For) -> int | None:
    """Returns at which place of a batch a name stands."""
    target = loop.target
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[-1]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return next((at for at, one in enumerate(parts) if isinstance(one, ast.Name) and one.id == name), None)


def _set_again(name: str, loop: ast.For) -> bool:
    """Whether a loop gives a target another value than a batch did, but for moving it."""
    for node in walk(loop):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                for one, value in pairs:
                    bound = any(isinstance(each, ast.Name) and each.id == name for each in walk(one))
                    inner = _bare(value)
                    if bound and (inner is None or inner.id != name):
                        return True
    return False


def _iterated(value: ast.expr) -> ast.expr:
    """Returns the loader of `enumerate(tqdm(loader))`."""
    while isinstance(value, ast.Call) and last_name(value.func) in ("enumerate", "tqdm", "list", "iter") and value.args:
        value = value.args[0]
    return value


def _held(
    loader: ast.expr, at: int, function: Function, project: Project
) -> Iterator[tuple[ast.Call, Function]]:  # fmt: skip
    """Yields what normalises the part of the data set at this place."""
    for one, where in origins(loader, function, project):
        if isinstance(one, ast.Call) and last_name(one.func) == "DataLoader":
            data = (
                one.args[0] if one.args else next((each.value for each in one.keywords if each.arg == "dataset"), None)
            )
            for made, there in origins(data, where, project) if data is not None else ():
                if isinstance(made, ast.Call) and last_name(made.func) == "TensorDataset" and len(made.args) > at:
                    yield from _encodes(made.args[at], there, project)


def _encodes(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.Call, Function]]:
    value = _stripped(value)
    if isinstance(value, ast.Name):
        made = function.assigned.get(value.id, [])
        value = _stripped(made[-1]) if made else value
    if isinstance(value, ast.Call) and last_name(value.func) in _FORTH:
        yield value, function
    elif isinstance(value, ast.Call) and last_name(value.func) in ("tensor", "from_numpy", "as_tensor", "FloatTensor"):
        yield from _encodes(value.args[0], function, project) if value.args else ()


def _is_backed(call: ast.Call, loop: ast.For, losses: frozenset[str]) -> bool:
    """Whether what a call gives is what the backward starts from, or a part of it."""
    for node in walk(loop):
        named = isinstance(node, (ast.Assign, ast.AugAssign)) and any(
            ast.unparse(one) in losses for one in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
        if named and any(one is call for one in walk(node)):
            return True
    return False
