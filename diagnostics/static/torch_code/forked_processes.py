"""Which processes a project forks, and which functions run in threads before that. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_FORKS = frozenset(["multiprocessing.Process", "torch.multiprocessing.Process", "multiprocessing.Pool",
                    "torch.multiprocessing.Pool", "multiprocessing.context.Process"])  # fmt: skip
_CONTEXTS = frozenset(["multiprocessing.get_context", "torch.multiprocessing.get_context"])
_MOST_DEPTH = 4


def forks(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes a process that is forked: by a context that says so, or by the default of Linux."""
    if project.name(call.func, function) in _FORKS:
        return not chooses_spawn(project)
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("Process", "Pool")):
        return False
    context: ast.expr = call.func.value
    if isinstance(context, ast.Name):
        scope = function if context.id in function.assigned else project.module_of(project.file_with(function))
        values = scope.assigned.get(context.id, [])
        context = values[0] if len(values) == 1 else context
    if not isinstance(context, ast.Call) or project.name(context.func, function) not in _CONTEXTS:
        return False
    said = context.args[0] if context.args else next((one.value for one in context.keywords), None)
    return isinstance(said, ast.Constant) and said.value == "fork"


def starts_own_process(call: ast.Call, function: Function, project: Project) -> ast.ClassDef | None:
    """Returns the project's class of processes whose object a call starts, where that forks: `actor.start()`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "start" or call.args:
        return None
    for kind in project.kinds(call.func.value, function):
        module = project.module_of_class(kind)
        names = [project.name(base, module) for base in kind.bases] if module is not None else []
        if _FORKS.intersection(names) and not chooses_spawn(project):
            return kind
    return None


def chooses_spawn(project: Project) -> bool:
    """Whether some file says how processes are started."""
    return any({"set_start_method", "forkserver"} & file.words for file in project.python)


def in_threads(project: Project) -> Iterator[tuple[ast.Call, Function, Function]]:
    """Yields (call, function it stands in, function it runs) for each thread and each task of a pool of threads."""
    for call, function in project.calls_by_canonical.get("threading.Thread", ()):
        given = [one.value for one in call.keywords if one.arg == "target"] + call.args[1:2]
        for value in given:
            yield from ((call, function, one) for one in project.meant(value, function))
    for call, function in project.calls_by_name.get("submit", ()):
        if call.args and any("ThreadPoolExecutor" in file.words for file in project.python):
            yield from ((call, function, one) for one in project.meant(call.args[0], function))
    for one in project.by_name.get("run", ()):
        kind = project.class_of(one)
        if kind is not None and any(last_name(base) == "Thread" for base in kind.bases):
            for call, function in project.calls_by_name.get(kind.name, ())[:1]:
                yield call, function, one


def reached_from(first: Function, project: Project) -> Iterator[Function]:
    """Yields a function and what it calls, a few calls deep."""
    seen = {id(first)}
    waiting = [(first, _MOST_DEPTH)]
    while waiting:
        one, depth = waiting.pop(0)
        yield one
        for node in one.own_nodes if depth else ():
            for target in project.targets(node, one) if isinstance(node, ast.Call) else ():
                if id(target) not in seen:
                    seen.add(id(target))
                    waiting.append((target, depth - 1))
