"""A focal factor is made of the mean cross entropy of a batch, so that one number weighs all of its samples.

What it does: finds functions that take exp() of minus a cross entropy that was averaged or summed over the batch, and
weigh that loss by (1 - p) ** gamma.

Why it matters: a focal loss weighs each sample by its own difficulty. The probability of the mean is that of nobody:
the loss is the plain cross entropy times one number for the batch, easy samples count as much as hard ones, and a rare
class gets no emphasis. Nothing fails: a `.mean()` behind it is one of a single number.

Bad:

    ce = F.cross_entropy(logits, target, weight=self.weight)
    pt = torch.exp(-ce)
    return ((1 - pt) ** self.gamma * ce).mean()

Good:

    ce = F.cross_entropy(logits, target, weight=self.weight, reduction="none")
    pt = torch.exp(-ce)
    return ((1 - pt) ** self.gamma * ce).mean()

What it cannot see: cross entropies of the project's own, and reductions that are settings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A374"
NAME = "focal-of-batch-mean"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("exp",)
CHECKLIST = "focal losses weigh each sample by itself"
_FUNCTIONS = frozenset(
    ["cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "nll_loss"]
)  # fmt: skip
_CLASSES = frozenset(["CrossEntropyLoss", "BCELoss", "BCEWithLogitsLoss", "NLLLoss"])
_AVERAGES = ("mean", "sum")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the cross entropies that are averaged before they are weighed."""
    if not file.words & (_FUNCTIONS | _CLASSES):
        return
    for function in project.functions_in(file):
        for name, values in function.assigned.items():
            loss = _averaged(values[0], function) if len(values) == 1 else None
            power = _weighed_by(name, function) if loss is not None else None
            if loss is not None and power is not None:
                yield violation(
                    file,
                    loss,
                    f"{name} is one number for the whole batch, and the focal factor is made of it: no sample is "
                    "weighed by its own difficulty, the loss is a scaled cross entropy",
                    'reduction="none" here, and .mean() behind the factor',
                    steps=(step(file, power, "weighed by a power of 1 - p"),),
                    confidence=Confidence.LIKELY,
                )


def _averaged(value: ast.expr, function: Function) -> ast.Call | None:
    """Returns the call of a cross entropy, or minus one, that gives one number for all samples."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    if not isinstance(value, ast.Call):
        return None
    name = last_name(value.func)
    if name in _FUNCTIONS:
        made: ast.Call | None = value if isinstance(value.func, ast.Attribute) or _is_torchs(name, function) else None
    else:
        made = value.func if isinstance(value.func, ast.Call) else _made(value.func, function)
        made = made if made is not None and last_name(made.func) in _CLASSES else None
    return value if made is not None and _is_reduced(made) else None


def _is_torchs(name: str, function: Function) -> bool:
    """Whether a bare name is imported from torch, not the project's own."""
    tree = function.source.tree
    return tree is not None and any(
        isinstance(one, ast.ImportFrom)
        and (one.module or "").startswith("torch")
        and any((each.asname or each.name) == name for each in one.names)
        for one in walk(tree)
    )


def _made(called: ast.expr, function: Function) -> ast.Call | None:
    """Returns the constructor of what `self.ce` or `ce` is, where there is one only."""
    name = last_name(called)
    if isinstance(called, ast.Attribute):
        if not isinstance(called.value, ast.Name) or called.value.id != "self" or function.owner is None:
            return None
        nodes = walk(function.owner)
    elif isinstance(called, ast.Name):
        nodes = walk(function.syntax)
    else:
        return None
    values = [
        one.value
        for one in nodes
        if isinstance(one, ast.Assign)
        and any(type(each) is type(called) and last_name(each) == name for each in one.targets)
    ]
    return values[0] if len(values) == 1 and isinstance(values[0], ast.Call) else None


def _is_reduced(made: ast.Call) -> bool:
    """Whether it averages or sums: by default, or by its name; settings are not known."""
    if len(made.args) > 3 or any(one.arg in (None, "reduce", "size_average") for one in made.keywords):
        return False
    given = next((one.value for one in made.keywords if one.arg == "reduction"), None)
    return given is None or (isinstance(given, ast.Constant) and given.value in _AVERAGES)


def _weighed_by(loss: str, function: Function) -> ast.AST | None:
    """Returns the product in which a loss is weighed by a power of 1 - exp(-loss)."""
    odds = {name for name, values in function.assigned.items() if len(values) == 1 and _is_exponent(values[0], loss)}
    rests = {name for name, values in function.assigned.items() if len(values) == 1 and _is_rest(values[0], odds, loss)}
    for node in function.nodes_of((ast.BinOp, ast.Call)):
        base = _base_of_power(node)
        if base is None:
            continue
        if _is_rest(base, odds, loss) or (isinstance(base, ast.Name) and base.id in rests):
            return node
    return None


def _is_exponent(value: ast.expr, loss: str) -> bool:
    """Whether it is exp(-loss), exp(loss) or loss.exp()."""
    if not isinstance(value, ast.Call) or last_name(value.func) != "exp":
        return False
    given: ast.expr | None = value.args[0] if value.args else None
    if given is None and isinstance(value.func, ast.Attribute):
        given = value.func.value
    if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub):
        given = given.operand
    return isinstance(given, ast.Name) and given.id == loss


def _is_rest(value: ast.expr, odds: set[str], loss: str) -> bool:
    """Whether it is 1 - p."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Sub):
        return False
    one, odd = value.left, value.right
    is_one = isinstance(one, ast.Constant) and one.value == 1
    return is_one and ((isinstance(odd, ast.Name) and odd.id in odds) or _is_exponent(odd, loss))


def _base_of_power(node: ast.AST) -> ast.expr | None:
    """Returns b of b ** g, torch.pow(b, g) and b.pow(g)."""
    if isinstance(node, ast.BinOp):
        return node.left if isinstance(node.op, ast.Pow) else None
    if not isinstance(node, ast.Call) or last_name(node.func) != "pow":
        return None
    if len(node.args) == 2:
        return node.args[0]
    return node.func.value if len(node.args) == 1 and isinstance(node.func, ast.Attribute) else None
