"""The words of a command that a program starts, as far as the source shows them, and whether it is a training. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_TRAINING = re.compile(
    r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b|\baccelerate\W+launch\b|^deepspeed\b|\bhorovodrun\b"
    r"|(?:^|[\s/\"'._-])(?:pre)?train(?:_\w+|er|ing)?\.py\b|\b\w*(?:finetun|fine_tun|pretrain|distill)\w*\.py\b"
    r"|\b(?:llamafactory-cli|xtuner|fairseq-train|colossalai|composer)\b.*\btrain|-m\s+[\w.]*\btrain\b",
    re.IGNORECASE,
)
_PREPARES = re.compile(r"data\.py$|\b(?:create|make|prepare|convert|download|tokenize)_", re.IGNORECASE)
_DEPTH = 3


def argv_text(value: ast.expr, function: Function, project: Project, depth: int = _DEPTH) -> str:
    """Returns what is known of a command as one line; what is computed is left out."""
    return " ".join(_words(value, function, project, depth))


def _words(value: ast.AST, function: Function, project: Project, depth: int) -> Iterator[str]:
    if isinstance(value, ast.Constant):
        if isinstance(value.value, str):
            yield value.value
    elif isinstance(value, ast.Name) and depth:
        for one, scope in reaching_values(value, function, project):
            yield from _words(one, scope, project, depth - 1)
        for one in _added(value.id, function):
            yield from _words(one, function, project, depth - 1)
    elif isinstance(value, ast.Attribute) and depth:
        for one, scope in project.attribute_values(value, function)[:4]:
            yield from _words(one, scope, project, depth - 1)
    elif isinstance(value, ast.Call) and depth and (targets := project.targets(value, function)):
        for target in targets[:2]:
            for node in target.nodes_of(ast.Return):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from _words(node.value, target, project, depth - 1)
        for argument in value.args:
            yield from _words(argument, function, project, depth - 1)
    else:
        for child in children(value):
            yield from _words(child, function, project, depth)


def _added(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields what is appended to a list."""
    for node in function.own_nodes:
        match node:
            case ast.AugAssign(target=ast.Name(id=found), value=value) if found == name:
                yield value
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append" | "extend")) if found == name:
                yield from node.args


def trains(command: str) -> bool:
    """Whether a command starts a training."""
    found = _TRAINING.search(command)
    return found is not None and not _PREPARES.search(found[0])
