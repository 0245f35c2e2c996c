"""Names and attributes that a program counts up: their first value says nothing of the later rounds. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project, per_project


def counted_names(function: Function, project: Project) -> frozenset[str]:
    """Returns the names that a function counts up: `n += 1`."""
    return _by_function(project).get(id(function), frozenset())


@per_project
def counted_attributes(project: Project) -> frozenset[str]:
    """Returns the attributes that something in a project counts up: `self.n += 1`."""
    return frozenset(
        one.target.attr
        for function in project.functions
        for one in function.nodes_of(ast.AugAssign)
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Attribute)
    )


@per_project
def _by_function(project: Project) -> Mapping[int, frozenset[str]]:
    found = {}
    for function in project.functions:
        targets = [one.target for one in function.nodes_of(ast.AugAssign) if isinstance(one, ast.AugAssign)]
        names = frozenset(one.id for one in targets if isinstance(one, ast.Name))
        if names:
            found[id(function)] = names
    return found
