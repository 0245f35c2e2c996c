"""What a call seeds a generator with: itself, or in the functions of the project that it runs. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_DEPTH = 3


def seeds(
    call: ast.Call, function: Function, project: Project, seeding: str, depth: int = _DEPTH
) -> Iterator[tuple[ast.expr, Function]]:
    """Yields the seeds that a call hands to `seeding`, "torch.manual_seed", each with the function it stands in.

    Of a seed that a function is given it is what this call gives; what is added to it there comes besides.
    """
    if project.name(call.func, function) == seeding:
        yield from ((one, function) for one in call.args[:1])
        return
    for target in project.targets(call, function) if depth else ():
        given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
        given.update({one.arg: one.value for one in call.keywords if one.arg})
        for inner in target.nodes_of(ast.Call):
            for seed, where in seeds(inner, target, project, seeding, depth - 1) if isinstance(inner, ast.Call) else ():
                if where is not target:
                    yield seed, where
                    continue
                passed = [one.id for one in walk(seed) if isinstance(one, ast.Name) and one.id in given]
                if not isinstance(seed, ast.Name) or seed.id not in passed or seed.id in target.assigned:
                    yield seed, target
                yield from ((given[name], function) for name in passed)
                yield from ((one.value, target) for one in target.nodes_of(ast.AugAssign)
                            if isinstance(one, ast.AugAssign) and ast.unparse(one.target) in passed)  # fmt: skip
