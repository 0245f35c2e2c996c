"""A collective writes its result into a tensor that nobody can read.

What it does: flags all_reduce, reduce and broadcast of an expression that makes a new tensor in the call itself:
`dist.all_reduce(torch.tensor(correct))`, `dist.all_reduce(loss.clone())`, `dist.all_reduce(total / n)`; and
broadcast_object_list of a list that is made in the call, `[name]`, where `name` is read afterwards.

Why it matters: these operations work in place and give nothing back. The sum over the ranks is in a tensor without a
name, and is gone with the statement; what is printed, compared or saved afterwards is the rank's own number.

Bad:

    dist.all_reduce(torch.tensor(correct, device=device))
    accuracy = correct / total

Good:

    correct = torch.tensor(correct, device=device)
    dist.all_reduce(correct)
    accuracy = correct.item() / total

What it cannot see: what is read of it in another function, or through another name; where nothing is, the rank may only
take part so that others get their sum. Copies that `.to()`, `.float()` or
`.contiguous()` make where they have something to do; these may be the tensor itself. A tensor of constants, as
`torch.zeros(1)`, is only there for the ranks to meet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls

CODE = "A228"
NAME = "result-in-temporary"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = (*operations.IN_PLACE, *operations.REPLACED)
CHECKLIST = "what a collective gives is kept under a name"
_MAKE = frozenset(["torch.tensor", "torch.stack", "torch.cat", "torch.sum", "torch.mean", "torch.clone"])
_READ = (ast.Name, ast.Attribute)
_COPIES = frozenset(["clone", "sum", "mean", "norm", "prod", "std", "var", "square", "sqrt", "exp", "log"])
# What gives the tensor that it is asked of, or a copy of it.
_PERHAPS = frozenset(
    ["to", "cuda", "cpu", "float", "double", "half", "long", "int", "detach", "contiguous", "view", "reshape",
     "unsqueeze", "squeeze", "flatten", "type", "type_as"]
)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the collectives whose result is lost."""
    for one in operation_calls(file, project):
        if one.op in operations.REPLACED:
            yield from _lists(one, file, project)
            continue
        given = one.argument("tensor") if one.op in operations.IN_PLACE else None
        kept = any(word.arg in ("async_op", None) for word in one.call.keywords)  # a handle has the result, too
        if given is None or kept or file.is_test or not _is_new(given, one.function, project):
            continue
        if one.op in operations.NEED_ROOT and is_rank_guarded(one.call, one.function, project):
            continue  # who hands something out needs no name for it
        read = next((node for node in one.function.nodes_of(_READ) if _is_read_behind(node, _sent(given), one)), None)
        if read is None:
            continue  # this rank may only take part, so that others get theirs
        yield violation(
            file,
            one.call,
            f"{one.op}() writes its result into {ast.unparse(given)[:60]}, a tensor that is made here and has no name: "
            "nobody can read what the ranks exchanged",
            "give the tensor a name before, and read the result from it",
            steps=(step(file, read, "each rank goes on with its own"),),
            confidence=Confidence.LIKELY,
        )


def _lists(one: CollectiveCallSite, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the operation whose list is made in the call, of a name that the function goes on with."""
    given = one.argument(operations.REPLACED[one.op])
    if not isinstance(given, ast.List) or file.is_test or is_rank_guarded(one.call, one.function, project):
        return  # only who hands something out needs no name for it
    sent = frozenset(node.id for item in given.elts for node in walk(item) if isinstance(node, ast.Name))
    read = next((node for node in one.function.nodes_of(ast.Name) if _is_read_behind(node, sent, one)), None)
    if read is None:
        return
    yield violation(
        file,
        one.call,
        f"{one.op}() puts what it brings into {ast.unparse(given)[:60]}, a list that is made here and has no name: "
        f"{ast.unparse(read)} stays what each rank had",
        "give the list a name, and read the result from it: values = [...]; ...; value = values[0]",
        steps=(step(file, read, "each rank goes on with its own"),),
        confidence=Confidence.LIKELY,
    )


def _sent(given: ast.expr) -> frozenset[str]:
    """Returns what a tensor is made of: names, and attributes whole, "self.correct" and not "self"."""
    inner = {id(node.value) for node in walk(given) if isinstance(node, ast.Attribute)}
    called = {id(node.func) for node in walk(given) if isinstance(node, ast.Call)}
    methods = {id(node.func.value): node.func.value for node in walk(given)
               if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}  # fmt: skip
    whole = [node for node in walk(given) if id(node) not in inner | called]
    return frozenset(ast.unparse(node) for node in (*whole, *methods.values()) if isinstance(node, _READ))


def _is_read_behind(node: ast.AST, sent: frozenset[str], one: CollectiveCallSite) -> bool:
    """Whether it is a use of one of these behind the operation, other than to let the name go."""
    if not isinstance(node, _READ) or not isinstance(node.ctx, ast.Load) or ast.unparse(node) not in sent:
        return False
    end = one.call.end_lineno or one.call.lineno
    assigned = one.function.assigned.get(node.id, ()) if isinstance(node, ast.Name) else ()
    again = any(end < value.lineno < node.lineno for value in assigned)
    return node.lineno > end and not again


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
