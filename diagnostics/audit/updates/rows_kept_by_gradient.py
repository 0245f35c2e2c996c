"""Rows of an embedding are to stay as they are by a gradient of 0, and weight decay changes them all the same.

What it does: flags an optimizer with a weight decay where the loop that it steps in sets the gradient of some rows of
an embedding to 0, and does not put the rows back.

Why it matters: decay does not ask for a gradient: each step multiplies all rows by 1 - lr * weight_decay. Only one new
token is to be learned, and the whole vocabulary shrinks. AdamW decays by 0.01 where nothing is said.

Bad:

    optimizer = torch.optim.AdamW(embedding.parameters(), lr=lr)
    embedding.weight.grad[others] = 0
    optimizer.step()

Good:

    optimizer = torch.optim.AdamW(embedding.parameters(), lr=lr, weight_decay=0.0)

What it cannot see: decays that a configuration file holds, and gradients that a hook sets to 0. Weights that are 0
themselves, as those of pruned layers, stay 0: nothing is said of other layers than embeddings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A126"
NAME = "rows-kept-by-gradient"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("grad",)
SUBJECT = ("get_input_embeddings", "Embedding")
CHECKLIST = "rows that are not learned are not decayed"
_EMBEDDING = re.compile(r"embed|wte\b|token_table", re.IGNORECASE)
_DECAYS = frozenset(["AdamW", "Adam", "SGD", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adamax"])
_PUTS_BACK = frozenset(["copy_", "index_copy_", "masked_scatter_", "set_", "lerp_", "where", "load_state_dict"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the optimizers that change what has no gradient."""
    for function in () if file.is_test else project.functions_in(file):
        made = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and _is_optimizer(one, function,
                                                                                                  project)]  # fmt: skip
        if len(made) != 1 or not _decays(made[0], function, project):
            continue
        for node in function.nodes_of((ast.Assign, ast.Expr)):
            table = _zeroed(node, function, project)
            if table is not None and not _are_put_back(node, function, file):
                yield violation(
                    file,
                    made[0],
                    f"this optimizer decays all rows of {ast.unparse(table)[:50]}, also those that are to stay as they "
                    "are, whose gradient is set to 0: they shrink in each step",
                    "weight_decay=0.0 for the embedding, or put the other rows back after each step",
                    steps=(step(file, node, "only the gradient of some rows is 0"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _is_optimizer(call: ast.Call, function: Function, project: Project) -> bool:
    return project.name(call.func, function).startswith("torch.optim.") and last_name(call.func) in _DECAYS


def _decays(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether an optimizer is known to decay all that it is given."""
    if any(one.arg is None for one in call.keywords):
        return False
    for given in call.args[:1]:
        for one, _ in origins(given, function, project):
            if any(isinstance(each, ast.Dict) for each in walk(one)):
                return False  # groups, each with a decay of its own
    decay = next((one.value for one in call.keywords if one.arg == "weight_decay"), None)
    if decay is None:
        return last_name(call.func) == "AdamW"
    values = [_default(one, function, project) for one, _ in origins(decay, function, project)]
    return bool(values) and all(isinstance(one, (int, float)) and one > 0 for one in values)


def _default(value: ast.expr, function: Function, project: Project) -> object:
    """Returns the number that a value is, or that an option of the command line is by default; None where unknown."""
    if isinstance(value, ast.Constant):
        return value.value
    if not isinstance(value, ast.Attribute):
        return None
    found = []
    for call, where in project.calls_by_name.get("add_argument", ()):
        names = [one.value.lstrip("-").replace("-", "_") for one in call.args
                 if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
        if where.file == function.file and value.attr in names:
            default = next((one.value for one in call.keywords if one.arg == "default"), None)
            found.append(default.value if isinstance(default, ast.Constant) else None)
    return found[0] if len(found) == 1 else None


def _zeroed(node: ast.AST, function: Function, project: Project) -> ast.expr | None:
    """Returns the embedding of which a statement sets the gradient of some rows to 0; None of anything else."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and _is_zero(node.value):
        target = node.targets[0]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        filled = node.value.func.attr == "fill_" and bool(node.value.args) and _is_zero(node.value.args[0])
        if node.value.func.attr == "zero_" or filled:
            target = node.value.func.value
    if not isinstance(target, ast.Subscript) or not _is_mask(target.slice):
        return None
    base = target.value
    if isinstance(base, ast.Attribute) and base.attr == "data":
        base = base.value
    made = [one for one, _ in origins(base, function, project)] if isinstance(base, ast.Name) else [base]
    for one in made:
        if not isinstance(one, ast.Attribute) or one.attr != "grad":
            return None
        of = [each for each, _ in origins(one.value, function, project)]
        if not any(_EMBEDDING.search(ast.unparse(each)) for each in (one.value, *of)):
            return None
    return made[0].value if made and isinstance(made[0], ast.Attribute) else None


def _is_zero(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):  # x[i].fill_(0)
        return last_name(value.func) in ("fill_", "zero_", "zeros_like") and all(
            _is_zero(one) for one in value.args if last_name(value.func) == "fill_"
        )
    return isinstance(value, ast.Constant) and value.value in (0, 0.0) and value.value is not False


def _is_mask(rows: ast.expr) -> bool:
    """Whether an index is of several rows, and not of all: one row that pads may be anything."""
    if isinstance(rows, ast.Tuple) and rows.elts:
        rows = rows.elts[0]
    if isinstance(rows, ast.Slice):
        return rows.lower is not None or rows.upper is not None
    named = isinstance(rows, (ast.Name, ast.Attribute, ast.UnaryOp, ast.Compare))
    return named and not re.search(r"pad", ast.unparse(rows), re.IGNORECASE)


def _are_put_back(node: ast.AST, function: Function, file: ProjectFile) -> bool:
    """Whether the loop around a statement writes rows, or calls what may do so, as far as the loop shows."""
    loop = innermost_loop(node, function, file)
    for one in walk(loop if loop is not None else function.syntax):
        if isinstance(one, ast.Call) and last_name(one.func) in _PUTS_BACK:
            return True
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):
            base = ast.unparse(one.targets[0].value)
            if one is not node and "grad" not in base and ("weight" in base or _EMBEDDING.search(base)):
                return True
    return False
