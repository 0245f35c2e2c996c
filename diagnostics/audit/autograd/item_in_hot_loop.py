"""Every step of a training loop waits for the GPU to read one number.

What it does: flags `loss.item()`, `float(loss)`, `loss.cpu()` and `print(loss)` that every turn of a training loop
comes to, in code that puts its model or batches on a GPU.

Why it matters: the CPU queues work ahead of the GPU; reading a value makes it wait until everything queued is done, and
the next step starts with an empty queue. Often several percent of a step, more with small models.

Bad:

    for x, y in loader:
        ...
        running += loss.item()

Good:

        running += loss.detach()
        if step % 50 == 0:
            print(running.item() / 50)

What it cannot see: what a step costs; `ups-doctor inspect` and a profiler can.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import is_off
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import puts_on_gpu
from diagnostics.static.torch_code.training_loops import TrainingLoop, training_loops

CODE = "A307"
NAME = "item-in-hot-loop"
SEVERITY = Severity.INFO
WORDS = ("backward", "manual_backward")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields, for each training loop, the first place where every step reads its loss."""
    for function in project.functions_in(file):
        for loop in training_loops(function, file):
            found = next(_reads(loop, function, file), None)
            if found is None:
                continue
            on_gpu = any(puts_on_gpu(node) for node in function.own_nodes)
            yield violation(
                file,
                found,
                f"{ast.unparse(found)} in every step makes the CPU wait for the GPU",
                "sum loss.detach() up and read it every so many steps",
                confidence=Confidence.LIKELY if on_gpu else Confidence.POSSIBLE,
            )


def _reads(loop: TrainingLoop, function: Function, file: ProjectFile) -> Iterator[ast.Call]:
    for node in walk(loop.loop):
        if not (isinstance(node, ast.Call) and _is_read(node, loop.losses)):
            continue
        if _comes_every_turn(node, loop, file) and not is_off(node, function, file):
            yield node


def _is_read(node: ast.Call, losses: frozenset[str]) -> bool:
    name = last_name(node.func)
    if name in ("item", "cpu", "tolist") and isinstance(node.func, ast.Attribute):
        value = node.func.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        return ast.unparse(value) in losses
    called = isinstance(node.func, ast.Name) and name in ("float", "print")
    return called and any(ast.unparse(one) in losses for one in node.args)


def _comes_every_turn(node: ast.AST, loop: TrainingLoop, file: ProjectFile) -> bool:
    outer = file.parents.get(node)
    while outer is not None and outer is not loop.loop:
        if isinstance(outer, (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Lambda, ast.FunctionDef)):
            return False
        outer = file.parents.get(outer)
    return True
