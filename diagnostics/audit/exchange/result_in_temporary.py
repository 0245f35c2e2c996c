"""A collective writes its result into a tensor that nobody can read.

What it does: flags all_reduce, reduce and broadcast of an expression that makes a new tensor in the call itself:
`dist.all_reduce(torch.tensor(correct))`, `dist.all_reduce(loss.clone())`, `dist.all_reduce(total / n)`.

Why it matters: these operations work in place and give nothing back. The sum over the ranks is in a tensor without a
name, and is gone with the statement; what is printed, compared or saved afterwards is the rank's own number.

Bad:

    dist.all_reduce(torch.tensor(correct, device=device))
    accuracy = correct / total

Good:

    correct = torch.tensor(correct, device=device)
    dist.all_reduce(correct)
    accuracy = correct.item() / total

What it cannot see: copies that `.to()`, `.float()` or `.contiguous()` make where they have something to do; these may
be the tensor itself. A tensor of constants, as `torch.zeros(1)`, is only there for the ranks to meet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_calls

CODE = "A228"
NAME = "result-in-temporary"
SEVERITY = Severity.WARNING
_IN_PLACE = ("all_reduce", "reduce", "broadcast")
WORDS = _IN_PLACE
CHECKLIST = "what a collective gives is kept under a name"
_MAKE = frozenset(["torch.tensor", "torch.stack", "torch.cat", "torch.sum", "torch.mean", "torch.clone"])
_COPIES = frozenset(["clone", "sum", "mean", "norm", "prod", "std", "var", "square", "sqrt", "exp", "log"])
# What gives the tensor that it is asked of, or a copy of it.
_PERHAPS = frozenset(
    ["to", "cuda", "cpu", "float", "double", "half", "long", "int", "detach", "contiguous", "view", "reshape",
     "unsqueeze", "squeeze", "flatten", "type", "type_as"]
)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the collectives whose result is lost."""
    for one in operation_calls(file, project):
        given = one.argument("tensor") if one.op in _IN_PLACE else None
        kept = any(word.arg in ("async_op", None) for word in one.call.keywords)  # a handle has the result, too
        if given is None or kept or file.is_test or not _is_new(given, one.function, project):
            continue
        yield violation(
            file,
            one.call,
            f"{one.op}() writes its result into {ast.unparse(given)[:60]}, a tensor that is made here and has no name: "
            "nobody can read what the ranks exchanged",
            "give the tensor a name before, and read the result from it",
            confidence=Confidence.LIKELY,
        )


def _is_new(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether an expression makes a tensor of its own, of something else than constants."""
    if isinstance(value, ast.BinOp):
        return _says_something(value)
    if not isinstance(value, ast.Call):
        return False
    if project.name(value.func, function) in _MAKE:
        return any(_says_something(one) for one in value.args)
    if not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr in _COPIES:
        return not project.targets(value, function) and _says_something(value.func.value)
    return value.func.attr in _PERHAPS and _is_new(value.func.value, function, project)


def _says_something(value: ast.expr) -> bool:
    """Whether a value is more than constants: a number that the program computes."""
    made = {last_name(one.func) for one in walk(value) if isinstance(one, ast.Call)}
    if made & {"zeros", "ones", "empty", "rand", "randn", "full", "arange"}:
        return False
    return any(isinstance(one, ast.Name) and not one.id.isupper() for one in walk(value))
