"""A script that starts processes with the spawn method whenever it is imported.

What it does: flags torch.multiprocessing.spawn, and processes of get_context("spawn"), that the top level of a script
comes to, itself or through the project's functions, with no `if __name__ == "__main__"` around.

Why it matters: a spawned process imports the script first, to find what it is to run. There it comes to the same call
again: Python ends it with "An attempt has been made to start a new process before the current process has finished its
bootstrapping phase", and no rank ever starts.

Bad:

    mp.spawn(train, nprocs=4)

Good:

    if __name__ == "__main__":
        mp.spawn(train, nprocs=4)

What it cannot see: functions that are run by a name in a configuration. Modules that other files import are not
scripts: nothing is said of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A161"
NAME = "spawn-without-main-guard"
SEVERITY = Severity.ERROR
SUBJECT = ("spawn",)
CHECKLIST = "processes are spawned below `if __name__ == '__main__'`"
_SPAWNS = frozenset(["torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn"])
_DEPTH = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the statement at the top of a script that comes to a spawn on import."""
    if not project.calls_by_name.get("spawn"):
        return
    module = project.module_of(file)
    tree = module.syntax
    for statement in tree.body if isinstance(tree, ast.Module) else ():
        if not isinstance(statement, (ast.Expr, ast.Assign)):
            continue  # what stands in a branch or a function is asked for, or not run by an import
        for call in (node for node in walk(statement) if isinstance(node, ast.Call)):
            spawned = _spawn(call, module, project)
            if spawned is None:
                continue
            inner, where = spawned
            told = (step(project.file_with(where), inner, "each process that starts here imports this script"),)
            yield violation(
                file,
                call,
                "the script comes here whenever it is imported, and the processes that are spawned import it: each "
                "starts to spawn again, and Python ends it",
                'put it below `if __name__ == "__main__":`',
                steps=told if inner is not call else (),
                confidence=Confidence.CONFIRMED,
            )
            return


def _spawn(call: ast.Call, function: Function, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns the call by which processes are spawned, with the function it is in; all on the way have to run."""
    waiting = [(call, function, _DEPTH)]
    while waiting:
        one, where, depth = waiting.pop()
        if project.name(one.func, where) in _SPAWNS:
            return one, where
        targets = project.targets(one, where) if depth else ()
        if len(targets) != 1:
            continue
        body = getattr(targets[0].syntax, "body", [])
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)):
                waiting += [(inner, targets[0], depth - 1) for inner in walk(statement) if isinstance(inner, ast.Call)]
            elif isinstance(statement, (ast.If, ast.Try)):
                break  # a test may keep the processes from coming so far
    return None
