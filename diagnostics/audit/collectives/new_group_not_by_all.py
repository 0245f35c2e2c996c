"""A process group that only some ranks make.

What it does: flags `new_group` and `new_subgroups` under a test of the rank, or after some ranks have left, and a
`new_group` whose members the rank chooses, so that each rank makes another group and none of the others.

Why it matters: every rank of the world has to call `new_group`, in the same order, also those that will not be in the
group. Where only the members call it they wait for the others; with two groups made in another order, ranks hold
handles of the wrong one.

Bad:

    if rank in members:
        group = dist.new_group(members)

Good:

    group = dist.new_group(members)      # on every rank
    if rank in members:
        dist.all_reduce(x, group=group)

What it cannot see: groups made by a library that is not audited.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.dataflow.rank_predicates import RankPredicates, is_own_rank
from diagnostics.static.dataflow.taint_sources import RANK
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A209"
NAME = "new-group-not-by-all"
SEVERITY = Severity.ERROR
WORDS = operations.GROUP_MAKERS
CHECKLIST = "every rank makes every group"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests of the rank under which a group is made, and groups of other members on each rank."""
    for one in partings(file, project, DivergenceShape.ARM, DivergenceShape.LOOP):
        if one.why == RANK and one.here.meeting is SyncKind.GROUP and one.there is None:
            yield hit_of(
                one, file, project,
                f"{operation(one.here)} is called by some ranks only: all ranks of the world have to make every group, "
                "members or not",
                f"call {operation(one.here)} on every rank in the same order, and test for membership afterwards",
            )  # fmt: skip
    for call, function in project.calls_in(file):
        if project.name(call.func, function) == "torch.distributed.new_group":
            yield from _of_own_members(call, function, file, project)


def _of_own_members(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields a group whose members are chosen by the rank, made once: each rank makes its own and no other one.

    Where a loop goes through all groups, the members are the loop's. With use_local_synchronization=True only the
    members come, which is meant for this.
    """
    members = next((one.value for one in call.keywords if one.arg == "ranks"), call.args[0] if call.args else None)
    if members is None or any(one.arg in (None, "use_local_synchronization") for one in call.keywords):
        return
    if _goes_through_all(call, members, function, file):
        return
    chosen = _chosen_by_rank(members, function, RankPredicates(project))
    alone = isinstance(members, ast.List) and len(members.elts) == 1  # nobody else is waited for in it
    if chosen is None or alone:
        return
    yield violation(
        file,
        call,
        f"new_group({ast.unparse(members)[:40]}) is given other members on each rank: all ranks of the world have to "
        "make every group, in one order, and each makes only its own",
        "make all groups on every rank, in a loop, and keep the one whose members hold the rank; or pass "
        "use_local_synchronization=True",
        steps=(step(file, chosen, "the rank decides which members these are"),),
        confidence=Confidence.LIKELY,
    )


def _goes_through_all(call: ast.Call, members: ast.expr, function: Function, file: ProjectFile) -> bool:
    """Whether a loop stands around the call and its round decides the members: `for i in range(n): new_group(of[i])`.

    What asks for the rank beside the round makes groups of the rank's own all the same.
    """
    turning: set[str] = set()
    around: ast.AST | None = file.parents.get(call)
    while around is not None and around is not function.syntax:
        if isinstance(around, (ast.For, ast.AsyncFor)):
            turning |= {one.id for one in ast.walk(around.target) if isinstance(one, ast.Name)}
        around = file.parents.get(around)
    waiting, seen, own = [members], set[str](), False
    turns = False
    while turning and waiting:
        for node in ast.walk(waiting.pop()):
            own = own or (isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and is_own_rank(node))
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                turns = turns or node.id in turning
                waiting += function.assigned.get(node.id, [])
    return turns and not own


def _chosen_by_rank(members: ast.expr, function: Function, tests: RankPredicates) -> ast.expr | None:
    """Returns the expression by which a rank picks the members, None where no such thing is seen."""
    values = [members]
    if isinstance(members, ast.Name):
        values = function.assigned.get(members.id, [])
    elif isinstance(members, ast.Attribute):
        made = tests.project.attribute_values(members, function)
        apart = [one for one, where in made if ConcreteEvaluator(tests.project).differs(one, where) is not None]
        return apart[0] if apart and len(made) == 1 else None
    for value in values:
        if isinstance(value, ast.IfExp) and tests.asks(value.test, function) is not None:
            return value
        item = value.slice if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice) else None
        if item is not None and tests.differs(item, function):
            return value
        if tests.differs(value, function):
            return value
        if isinstance(value, ast.Call) and any(tests.differs(one, function) for one in _given(value)):
            return value
        if any(tests.differs(one, function) for one in _looked_for(value)):
            return value
    arms = [
        node
        for node in function.nodes_of(ast.If)
        if isinstance(node, ast.If) and tests.asks(node.test, function) is not None
    ]
    for arm in arms:
        inside = [
            any(inner is value for value in values for inner in _values(block)) for block in (arm.body, arm.orelse)
        ]
        if all(inside):
            return arm.test
    return None


def _looked_for(value: ast.expr) -> Iterator[ast.expr]:
    """Yields what the tests of `next(one for one in several if rank in one)` and of a list of such ask for."""
    found = value.args[0] if isinstance(value, ast.Call) and last_name(value.func) == "next" and value.args else value
    if isinstance(found, ast.Subscript):
        found = found.value
    for one in found.generators if isinstance(found, (ast.GeneratorExp, ast.ListComp)) else ():
        for test in one.ifs:
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and isinstance(one.target, ast.Name):
                yield test.left


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from (*call.args, *(one.value for one in call.keywords))


def _values(block: list[ast.stmt]) -> Iterator[ast.expr]:
    yield from (one.value for one in block if isinstance(one, ast.Assign))
