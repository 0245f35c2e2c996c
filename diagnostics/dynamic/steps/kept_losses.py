"""Lines of the program that keep the loss of each step, or what it is made of, with the graph. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk

_KEEPS = ("append", "add", "extend")
MOST_FILES = 8
# What gives a number, or a tensor without its graph.
_LEAVES_GRAPH = {"item", "detach", "float", "int", "bool", "len", "str", "tolist", "numpy", "argmax", "round", "format",
                 "no_grad", "inference_mode"}  # fmt: skip


def kept_loss_lines(job: Job) -> tuple[str, ...]:
    """Returns "train.py:31" of each statement that adds such a tensor to something."""
    found = []
    functions = [
        (file, node)
        for file in _files(job)
        for node in walk(job.sources.file(file).tree or ast.Module(body=[], type_ignores=[]))
        if isinstance(node, ast.FunctionDef | ast.Module)
    ]
    graphs = _with_graph(node for _, node in functions)
    for file, function in functions:
        found += [job.line(Frame(file=file, line=line, function="")) for line in _kept(function, graphs)]
    return distinct(found)


def _with_graph(functions: Iterable[ast.FunctionDef | ast.Module]) -> frozenset[str]:
    """Returns the functions of the project that return what they compute of a tensor with its graph."""
    found: set[str] = set()
    others: set[str] = set()
    for function in functions:
        if isinstance(function, ast.FunctionDef):
            nodes = [*walk(function), *function.decorator_list]
            leaves = any(
                (isinstance(node, ast.Attribute) and node.attr in _LEAVES_GRAPH)
                or (isinstance(node, ast.Name) and node.id in _LEAVES_GRAPH)
                for node in nodes
            )
            returns = any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
            (found if returns and not leaves else others).add(function.name)
    return frozenset(found - others)


def _files(job: Job) -> list[str]:
    """Returns the files in which optimizers, loaders and models are made and called."""
    folder = next((one.agent_folder for one in job.ranks), "")
    files = []
    for process in job.ranks[:1]:
        events = process.agent.events if process.agent is not None else ()
        files += [frame.file for event in events for frame in user_frames(event.path, agent_folder=folder)]
    return list(dict.fromkeys(files))[:MOST_FILES]


def _kept(function: ast.FunctionDef | ast.Module, graphs: frozenset[str]) -> Iterator[int]:
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
            if any(_is(one, losses, graphs) for one in (*node.args, *(word.value for word in node.keywords))):
                yield node.lineno
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            own = isinstance(node.target, ast.Name) and node.target.id in losses
            if not own and _is(node.value, losses, graphs):
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


def _is(value: ast.expr, losses: set[str], graphs: frozenset[str]) -> bool:
    """Whether it is one of these tensors, alone, in a tuple, beside a number, or what the project computes of one."""
    if isinstance(value, ast.Name):
        return value.id in losses
    if isinstance(value, ast.Tuple | ast.List):
        return any(_is(one, losses, graphs) for one in value.elts)
    if isinstance(value, ast.BinOp):
        return _is(value.left, losses, graphs) or _is(value.right, losses, graphs)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in graphs and any(_is(one, losses, graphs) for one in value.args)
    return False
