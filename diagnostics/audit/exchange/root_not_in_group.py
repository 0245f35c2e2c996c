"""A root that is fixed for the world, in a group that each rank has another one of.

What it does: flags broadcast, reduce, gather and scatter with a number for `src` or `dst` in a group that follows from
the rank: made in a loop over groups and kept where the rank is a member, of new_subgroups(), or of a device mesh.

Why it matters: `src` and `dst` count ranks of the world, also within a group. In the group that holds rank 0 it works;
in all others the call raises "Global rank 0 is not part of group", or waits.

Bad:

    dist.broadcast(batch, src=0, group=tensor_parallel_group)

Good:

    dist.broadcast(batch, group_src=0, group=tensor_parallel_group)
    dist.broadcast(batch, src=dist.get_global_rank(tensor_parallel_group, 0), group=tensor_parallel_group)

What it cannot see: groups that a library hands out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.executed.groups import roots_outside
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import (
    CollectiveCallSite,
    is_world,
    operation_calls,
    under_rank_test,
)

CODE = "A222"
NAME = "root-not-in-group"
SEVERITY = Severity.ERROR
WORDS = tuple(operations.ROOTED)
CHECKLIST = "roots within a group are ranks of that group"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the operations of a group whose root is a number of the world."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one, name, group in roots_outside(execution):
        yield violation(
            home(one, project),
            one.node,
            f"{name} counts ranks of the whole world, and this group is another one on other ranks: where it is not a "
            "member, the call raises or waits",
            f"group_{name}=, or dist.get_global_rank(group, 0)",
            steps=(shown(group, project, "one of several groups: which one depends on the rank"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    tests = RankPredicates(project)
    for one in operation_calls(file, project):
        name = operations.ROOTED.get(one.op)
        root, group = (one.argument(name), one.argument("group")) if name else (None, None)
        if name and root is not None and group is not None and not is_world(group):
            yield from _number_in_group(file, one, name, root, group)
        if name is None or group is None or not _is_number(root, one.function, project):
            continue
        if under_rank_test(one.call, one.function, file, tests):
            continue
        made = next((each for each in origins(group, one.function, project) if _is_one_of_many(each, project)), None)
        if made is None:
            continue
        yield violation(
            file,
            one.call,
            f"{name}={ast.unparse(root) if root is not None else ''} counts ranks of the whole world, and this group "
            "is another one on other ranks: where it is not a member, the call raises or waits",
            f"group_{name}={ast.unparse(root) if root is not None else 0}, or dist.get_global_rank(group, 0)",
            steps=(step(project.file_with(made[1]), made[0], "one of several groups: which one depends on the rank"),),
            confidence=Confidence.LIKELY,
        )


def _number_in_group(
    file: ProjectFile, one: CollectiveCallSite, name: str, root: ast.expr, group: ast.expr
) -> Iterator[Violation]:
    """Yields a root of which the function itself says that it is a number within the group."""
    asks = {f"{ast.unparse(group)}.rank()"}
    for node in one.function.nodes_of((ast.Compare, ast.Assign)):
        if isinstance(node, ast.Assign) and (_asks_group(node.value, group) or ast.unparse(node.value) in asks):
            asks.add(ast.unparse(node.targets[0]))
    text = ast.unparse(root)
    if isinstance(root, ast.Constant) or not isinstance(root, (ast.Name, ast.Attribute)):
        return
    for node in one.function.nodes_of(ast.Compare):
        if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq))):
            continue
        sides = (node.left, node.comparators[0])
        for mine, other in (sides, sides[::-1]):
            within = ast.unparse(mine) in asks or _asks_group(mine, group)
            if within and ast.unparse(other) == text:
                yield violation(
                    file,
                    one.call,
                    f"{name}={text} counts ranks of the whole world, and is compared with the rank within the group: "
                    "in a group without that global rank the call raises or waits",
                    f"group_{name}={text}, or dist.get_global_rank({ast.unparse(group)}, {text})",
                    steps=(step(file, node, "here it is a number within the group"),),
                    confidence=Confidence.LIKELY,
                )
                return


def _asks_group(value: ast.expr, group: ast.expr) -> bool:
    """Whether an expression is `get_rank(group)`."""
    if not (isinstance(value, ast.Call) and last_name(value.func) in ("get_rank", "get_group_rank")):
        return False
    given = [*value.args, *(one.value for one in value.keywords)]
    return any(ast.unparse(one) == ast.unparse(group) for one in given)


def _is_number(root: ast.expr | None, function: Function, project: Project) -> bool:
    found = origins(root, function, project) if root is not None else ()
    return bool(found) and all(isinstance(one, ast.Constant) and isinstance(one.value, int) for one, _ in found)


def _is_one_of_many(origin: Origin, project: Project) -> bool:
    """Whether a group was made as one of several that part the ranks."""
    value, function = origin
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    if name in operations.SUBGROUP_MAKERS:
        return True
    if name == "get_group" and isinstance(value.func, ast.Attribute):
        return _has_dimensions(value.func.value, value, function, project)
    return name == "new_group" and _members_of_loop(value, function, project)


def _has_dimensions(mesh: ast.expr, call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a group is that of one dimension of several of a mesh."""
    inner = mesh.value if isinstance(mesh, ast.Subscript) else mesh
    if not call.args and not call.keywords and inner is mesh:
        return False
    for value, _ in origins(inner, function, project):
        if isinstance(value, ast.Call) and last_name(value.func) in ("init_device_mesh", "DeviceMesh"):
            shape = next((one.value for one in value.keywords if one.arg in ("mesh_shape", "mesh")), None)
            shape = value.args[1] if shape is None and len(value.args) > 1 else shape
            if isinstance(shape, (ast.Tuple, ast.List)) and len(shape.elts) > 1:
                return not (isinstance(shape.elts[0], ast.Constant) and shape.elts[0].value == 1)
    return False


def _members_of_loop(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the members are those of a round of a loop: each round makes another group."""
    members = next((one.value for one in call.keywords if one.arg == "ranks"), call.args[0] if call.args else None)
    if members is None:
        return False
    file = project.file_with(function)
    names = {node.id for node in walk(members) if isinstance(node, ast.Name)}
    for name in tuple(names):
        names |= {
            node.id for value in function.assigned.get(name, ()) for node in walk(value) if isinstance(node, ast.Name)
        }
    around = file.parents.get(call)
    while around is not None and around is not function.syntax:
        targets = (
            [around.target]
            if isinstance(around, ast.For)
            else [one.target for one in getattr(around, "generators", ())]
        )
        if any(isinstance(node, ast.Name) and node.id in names for target in targets for node in walk(target)):
            return True
        around = file.parents.get(around)
    return False
