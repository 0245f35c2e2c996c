"""Lines of the program that keep the loss of each step, or what it is made of, with the graph. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk

_KEEPS = ("append", "add", "extend")
MOST_FILES = 8


def kept_loss_lines(job: Job) -> tuple[str, ...]:
    """Returns "train.py:31" of each statement that adds such a tensor to something."""
    found = []
    for file in _files(job):
        tree = job.sources.file(file).tree
        for function in walk(tree) if tree is not None else ():
            if isinstance(function, ast.FunctionDef | ast.Module):
                found += [job.line(Frame(file=file, line=line, function="")) for line in _kept(function)]
    return distinct(found)


def _files(job: Job) -> list[str]:
    """Returns the files in which optimizers, loaders and models are made and called."""
    folder = next((one.agent_folder for one in job.ranks), "")
    files = []
    for process in job.ranks[:1]:
        events = process.agent.events if process.agent is not None else ()
        files += [frame.file for event in events for frame in user_frames(event.path, agent_folder=folder)]
    return list(dict.fromkeys(files))[:MOST_FILES]


def _kept(function: ast.FunctionDef | ast.Module) -> Iterator[int]:
    nodes = list(walk(function))
    losses = {
        node.func.value.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and isinstance(node.func.value, ast.Name)
    }
    losses |= _made_of(losses, nodes)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPS:
            if any(_is(argument, losses) for argument in node.args):
                yield node.lineno
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            own = isinstance(node.target, ast.Name) and node.target.id in losses
            if not own and _is(node.value, losses):
                yield node.lineno


def _made_of(losses: set[str], nodes: list[ast.AST]) -> set[str]:
    """Returns what losses are computed of and what is itself assigned in a loop: outputs of models."""
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    assigned: dict[str, list[ast.expr]] = {}
    for node in (inner for loop in loops for inner in walk(loop)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    found, waiting = set(losses), list(losses)
    while waiting:
        for value in assigned.get(waiting.pop(), ()):
            names = {node.id for node in walk(value) if isinstance(node, ast.Name) and node.id in assigned}
            waiting += names - found
            found |= names
    return {name for name in found if any(isinstance(value, ast.Call) for value in assigned.get(name, ()))}


def _is(value: ast.expr, losses: set[str]) -> bool:
    """Whether it is one of these tensors as it stands, also inside of a tuple or beside a number."""
    if isinstance(value, ast.Name):
        return value.id in losses
    if isinstance(value, ast.Tuple | ast.List):
        return any(_is(one, losses) for one in value.elts)
    if isinstance(value, ast.BinOp):
        return _is(value.left, losses) or _is(value.right, losses)
    return False
