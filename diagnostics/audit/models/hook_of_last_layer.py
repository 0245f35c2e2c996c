"""A loop registers hooks, and only the last one's handle is kept.

What it does: flags a loop that gives each hook's handle the same name, where the handle is removed or stored behind the
loop only.

Why it matters: one hook of many is taken away. The others stay and pile up with every call: they hold the tensors and
graphs that they closed over, slow each pass down and go on changing what they were meant to change once.

Bad:

    for layer in layers:
        handle = layer.register_forward_hook(hook)
    handles.append(handle)

Good:

    for layer in layers:
        handles.append(layer.register_forward_hook(hook))

What it cannot see: hooks that are meant to stay, which need no handle at all.
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
from diagnostics.static.torch_code.training_loops import Loop, innermost_loop

CODE = "A325"
NAME = "hook-of-last-layer"
SEVERITY = Severity.WARNING
WORDS = ("remove", "append")
CHECKLIST = "the handle of each hook is kept"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the uses of a handle that is the last round's."""
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_hook(node.value):
                loop = innermost_loop(node, function, file)
                used = _used(node.targets[0].id, node, loop, function) if loop is not None else None
                if used is not None:
                    yield violation(
                        file,
                        used,
                        f"'{node.targets[0].id}' is here the handle of the last round's hook alone: those of the other "
                        "rounds are lost, and their hooks stay and pile up",
                        f"handles.append({node.targets[0].id}) in the loop, and remove() of each",
                        steps=(step(file, node, "each round registers a hook and forgets the handle before it"),),
                        confidence=Confidence.LIKELY,
                    )


def _is_hook(value: ast.expr) -> bool:
    name = last_name(value.func) if isinstance(value, ast.Call) else ""
    return name.startswith("register_") and name.endswith("_hook")


def _used(name: str, made: ast.Assign, loop: Loop, function: Function) -> ast.Call | None:
    """Returns where a handle is removed or stored behind its loop, None where the loop itself uses it."""
    inside = [node for one in loop.body for node in walk(one)]
    if any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in inside):
        return None
    if any(isinstance(node, (ast.Break, ast.Return)) for node in inside):
        return None  # the layer that was looked for is found
    behind = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
              and one.lineno > (loop.end_lineno or 0)]  # fmt: skip
    for call in behind:
        given = any(isinstance(one, ast.Name) and one.id == name for one in call.args)
        on = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == name
        if (given and last_name(call.func) == "append") or (on and last_name(call.func) == "remove"):
            again = any(isinstance(one, ast.For) and any(ast.unparse(one.target) == name for _ in (0,))
                        and one.lineno > made.lineno and one.lineno <= call.lineno
                        for one in function.nodes_of(ast.For))  # fmt: skip
            return None if again else call
    return None
