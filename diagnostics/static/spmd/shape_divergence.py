"""Tensors whose first dimension can be another one on each rank: masks, unique values, the last batch. Pure.

Only what keeps the first dimension is followed: casts, moves, arithmetic, cat, the forward of a model.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from diagnostics.core.findings import Confidence
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_ROUNDS = 7
LOADER = "torch.utils.data.DataLoader"
_KEEPS = {
    "float", "double", "half", "long", "int", "bool", "to", "cpu", "cuda", "detach", "clone", "contiguous", "type",
    "argmax", "softmax", "log_softmax", "sigmoid", "flatten", "view", "reshape", "squeeze", "unsqueeze", "relu", "eq",
    "ge", "gt", "le", "lt", "type_as", "byte", "abs", "exp", "log", "requires_grad_", "numpy", "tolist",
}  # fmt: skip
_BUILDS = {
    "tensor",
    "as_tensor",
    "from_numpy",
    "cat",
    "concat",
    "concatenate",
    "stack",
    "array",
    "FloatTensor",
    "LongTensor",
}
_PICKS = {"nonzero", "unique", "unique_consecutive", "masked_select", "argwhere", "nms", "batched_nms", "flatnonzero"}
_NETWORK = re.compile(r"model|net|module|encoder|backbone|head|classifier|predict|forward|ddp|engine", re.IGNORECASE)
_SCALAR = re.compile(r"loss|criterion|entropy|metric|accuracy|score|norm|count|total|mean|sum|num", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShapeDivergence:
    """Why a size can differ, in words, and where that comes in."""

    told: str
    node: ast.AST
    function: Function
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class VaryingSizes:
    """Answers for expressions of a project."""

    project: Project

    def of(self, value: ast.expr, function: Function, rounds: int = _ROUNDS) -> ShapeDivergence | None:
        """Returns why the first dimension of a value can differ between ranks, None where nothing says so."""
        if rounds < 0:
            return None
        match value:
            case ast.Name():
                return self._of_name(value, function, rounds)
            case ast.Subscript(value=held, slice=index):
                first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
                if _is_mask(first, function):
                    return ShapeDivergence(
                        f"{ast.unparse(value)} is picked by a mask", value, function, Confidence.CONFIRMED
                    )
                whole = (
                    isinstance(index, ast.Tuple) and isinstance(first, ast.Slice) and first.lower is first.upper is None
                )
                return self.of(held, function, rounds - 1) if whole else None
            case ast.UnaryOp(operand=operand):
                return self.of(operand, function, rounds - 1)
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                return self.of(left, function, rounds - 1) or self.of(right, function, rounds - 1)
            case ast.ListComp(generators=[one]) if one.ifs and not _counts(one.iter):
                return ShapeDivergence(f"{ast.unparse(value)} is filtered", value, function, Confidence.LIKELY)
            case ast.ListComp(generators=[one]):
                return self.of(one.iter, function, rounds - 1)
            case ast.Call():
                return self._of_call(value, function, rounds)
            case _:
                return None

    def _of_call(self, call: ast.Call, function: Function, rounds: int) -> ShapeDivergence | None:
        name = last_name(call.func)
        if name in _PICKS or (name == "where" and len(call.args) == 1 and not call.keywords):
            if name == "nonzero" and any(one.arg == "as_tuple" for one in call.keywords):
                return None
            return ShapeDivergence(
                f"{ast.unparse(call)} gives as many rows as fit", call, function, Confidence.CONFIRMED
            )
        if name in _BUILDS and call.args:
            return self._of_built(call, function, rounds)
        if name in _KEEPS and isinstance(call.func, ast.Attribute):
            first = call.args[0] if call.args else None
            if name in ("argmax",) and (first is None or _is_zero(first)) and not call.keywords:
                return None
            torch_function = self.project.name(call.func, function).startswith("torch.")
            held = first if torch_function else call.func.value
            return self.of(held, function, rounds - 1) if held is not None else None
        for target in self.project.targets(call, function):
            for node in target.nodes_of(ast.Return):
                if isinstance(node, ast.Return) and node.value is not None:
                    found = self.of(node.value, target, rounds - 2)
                    if found is not None:
                        return found
        if _SCALAR.search(name) or not _NETWORK.search(name) or len(call.args) != 1:
            return None
        return self.of(call.args[0], function, rounds - 1)  # the forward of a model

    def _of_built(self, call: ast.Call, function: Function, rounds: int) -> ShapeDivergence | None:
        part = call.args[0]
        joined = last_name(call.func) in ("cat", "concat", "concatenate")
        if isinstance(part, (ast.List, ast.Tuple)):
            several = (self.of(one, function, rounds - 1) for one in part.elts)
            return next((one for one in several if one is not None), None) if joined else None
        if isinstance(part, ast.Name):
            return self._of_filled(part, function, rounds) or self.of(part, function, rounds - 1)
        return self.of(part, function, rounds - 1)

    def _of_filled(self, name: ast.Name, function: Function, rounds: int) -> ShapeDivergence | None:
        """A list that is appended to: under a test of the data, or once a batch."""
        file = self.project.file_with(function)
        for node in function.own_nodes:
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            if node.func.attr not in ("append", "extend") or ast.unparse(node.func.value) != name.id:
                continue
            around = file.parents.get(node)
            while around is not None and around is not function.syntax:
                if isinstance(around, ast.For):
                    uneven = self._of_loader(around.iter, function, rounds)
                    if uneven is not None:
                        return uneven
                around = file.parents.get(around)
        return None

    # Batches

    def _of_name(self, name: ast.Name, function: Function, rounds: int) -> ShapeDivergence | None:
        loop = self._loop_over(name, function)
        if loop is not None:
            return self._of_loader(loop.iter, function, rounds)
        made = [one for one in function.assigned.get(name.id, ()) if one.lineno <= name.lineno]
        if not made and name.id in function.parameters and not name.id.startswith("self"):
            given = (self.of(one, where, rounds - 2) for one, where in self.project.arguments(name.id, function))
            return next((one for one in given if one is not None), None)
        return self.of(max(made, key=lambda one: one.lineno), function, rounds - 1) if made else None

    def _loop_over(self, name: ast.Name, function: Function) -> ast.For | None:
        """Returns the loop around a name whose target gives it."""
        file = self.project.file_with(function)
        around: ast.AST | None = file.parents.get(name)
        while around is not None and around is not function.syntax:
            if isinstance(around, ast.For):
                target = around.target
                if isinstance(around.iter, ast.Call) and last_name(around.iter.func) == "enumerate":
                    target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
                if any(isinstance(node, ast.Name) and node.id == name.id for node in walk(target)):
                    return around
            around = file.parents.get(around)
        return None

    def _of_loader(self, value: ast.expr, function: Function, rounds: int) -> ShapeDivergence | None:
        """Returns why the batches of a loader can have another size: its share ends with a smaller one."""
        if rounds < 0:
            return None
        if isinstance(value, ast.Name):
            found = (
                self._of_loader(one, where, rounds - 1) for one, where in reaching_values(value, function, self.project)
            )
            return next((one for one in found if one is not None), None)
        if not isinstance(value, ast.Call):
            return None
        if last_name(value.func) in ("enumerate", "tqdm", "iter") and value.args:
            return self._of_loader(value.args[0], function, rounds - 1)
        if self.project.name(value.func, function) != LOADER:
            return None
        given = {one.arg: one.value for one in value.keywords}
        if None in given or {"sampler", "batch_sampler"} & given.keys() or _is_true(given.get("drop_last")):
            return None
        dataset = value.args[0] if value.args else given.get("dataset")
        if dataset is None or not self._is_uneven(dataset, function, 3):
            return None
        why = "the last batch of this loader is as small as the rank's share leaves it"
        return ShapeDivergence(why, value, function, Confidence.LIKELY)

    def _is_uneven(self, dataset: ast.expr, function: Function, rounds: int) -> bool:
        """Whether the rank's share has another length on another rank: chosen by the rank, or cut by stride."""
        tests = RankPredicates(self.project)
        for node in walk(dataset):
            if isinstance(node, ast.IfExp) and tests.asks(node.test, function) is not None:
                return True
            first = _first_of_stride(node)
            if first is not None and tests.differs(first, function):
                return True
            if isinstance(node, ast.Name) and rounds:
                made = list(reaching_values(node, function, self.project))
                if any(self._is_uneven(one, where, rounds - 1) for one, where in made if one is not dataset):
                    return True
        return False


def _is_mask(index: ast.expr, function: Function, rounds: int = 3) -> bool:
    """Whether an index is a mask of truth values, or what is picked by one."""
    match index:
        case ast.Compare(ops=[op]):
            return not isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return True if isinstance(operand, ast.Name) else _is_mask(operand, function, rounds)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr(), left=left, right=right):
            return _is_mask(left, function, rounds) or _is_mask(right, function, rounds)
        case ast.Call(
            func=ast.Attribute(attr=("bool" | "nonzero" | "isfinite" | "isnan" | "ne" | "gt" | "lt" | "ge" | "le"))
        ):
            return True
        case ast.Name(id=name) if rounds:
            made = function.assigned.get(name, ())
            return bool(made) and all(_is_mask(one, function, rounds - 1) for one in made)
        case _:
            return False


def _first_of_stride(node: ast.AST) -> ast.expr | None:
    """Returns where `samples[rank::world]` or `range(rank, count, world)` begins."""
    match node:
        case ast.Slice(lower=ast.expr() as first, step=ast.expr()):
            return first
        case ast.Call(args=[first, _, _]) if last_name(node.func) == "range":
            return first
        case _:
            return None


def _counts(over: ast.expr) -> bool:
    return isinstance(over, ast.Call) and last_name(over.func) in ("range", "enumerate", "items", "keys")


def _is_zero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == 0


def _is_true(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is False)
