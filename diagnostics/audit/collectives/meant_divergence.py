"""Whether ranks that part by a test of the rank may do so on purpose: servers, roles, protocols of their own."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites
from diagnostics.static.spmd.divergent_branch import DivergentBranch
from diagnostics.static.spmd.static_divergence import StaticDivergence

_HALVES = {"__enter__": "__exit__", "__exit__": "__enter__", "__aenter__": "__aexit__", "__aexit__": "__aenter__"}


def is_meant(parting: DivergentBranch, project: Project) -> bool:
    """Whether something says that the arms are programs that answer each other."""
    return _serves(parting.here, project) or _hands_on(parting, project) or _is_undecided(parting, project)


def is_made_up_for(parting: DivergentBranch, project: Project) -> bool:
    """Whether the other half of a `with` gives the other ranks the same operation: they come in one after the other.

    `__enter__` makes the odd ranks wait in a barrier that the even ones come to in `__exit__`.
    """
    owner, _, method = parting.function.name.rpartition(".")
    other = _HALVES.get(method)
    if other is None or parting.ranks is None:
        return False
    tests = RankPredicates(project)
    mine = _who_comes(parting, parting.ranks, tests)
    return None not in mine and any(
        one.function.name == f"{owner}.{other}"
        and one.here.op == parting.here.op
        and _who_comes(one, parting.ranks, tests) == (mine[1], mine[0])
        and mine[0] is not mine[1]
        for one in project.fact(StaticDivergence).partings(parting.function.file)
    )


def _who_comes(
    parting: DivergentBranch, ranks: tuple[ConcreteRank, ConcreteRank], tests: RankPredicates
) -> tuple[bool | None, bool | None]:
    """Returns whether each of two ranks comes to the operation, None where that is open."""
    decision = parting.decision
    if not isinstance(decision, ast.If):
        return (None, None)
    call = parting.here.chain[0][0]
    held = any(node is call for one in decision.body for node in walk(one))
    one, other = (tests.truth(decision.test, parting.function, on) for on in ranks)
    return (None if one is None else one is held, None if other is None else other is held)


def _serves(reach: CollectiveSite, project: Project) -> bool:
    """Whether the operation is that of a server: in a `while` of a function of its own, fed by the other ranks."""
    for call, function in reach.chain[1:]:
        parents = project.file_with(function).parents
        around: ast.AST = call
        while around in parents and around is not function.syntax:
            around = parents[around]
            if isinstance(around, ast.While):
                return True
    return False


def _is_undecided(parting: DivergentBranch, project: Project) -> bool:
    """Whether it hangs on more than the rank: on tests inside of both arms, or on what each arm's own program does."""
    decision = parting.decision
    if not isinstance(decision, ast.If):
        return False
    if _leaves_with(parting):
        return True
    if not decision.orelse:
        return False
    if parting.there is not None:
        arms = [one for arm in (decision.body, decision.orelse) for one in arm]
        sites = {id(parting.here.chain[0][0]), id(parting.there.chain[0][0])}
        within = [one for part in arms for one in walk(part) if isinstance(one, ast.If)]
        if any(id(node) in sites for one in within for node in walk(one)):
            return True
    return _is_roles(decision, parting, project)


def _leaves_with(parting: DivergentBranch) -> bool:
    """Whether the operation stands under a further test in the arm, and its block leaves: what comes after, others do.

    `if rank == 0: if broken: barrier(); return`, with a barrier() for all further down.
    """
    call = parting.here.chain[0][0]
    decision = parting.decision
    blocks = [one.body for part in getattr(decision, "body", []) for one in walk(part) if isinstance(one, ast.If)]
    return any(
        isinstance(block[-1], ast.Return) and any(node is call for one in block for node in walk(one))
        for block in blocks
    )


def _is_roles(decision: ast.If, parting: DivergentBranch, project: Project) -> bool:
    """Whether ranks run programs of their own, `player() if rank == 0 else trainer()`: these meet by their design."""
    arms = [decision.body, decision.orelse]
    while len(arms[-1]) == 1 and isinstance(arms[-1][0], ast.If):
        last = arms.pop()[0]
        arms += [last.body, last.orelse] if isinstance(last, ast.If) else []
    calls = [one.value for arm in arms for one in arm if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    if [len(arm) for arm in arms] != [1] * len(arms) or len(calls) != len(arms):
        return False
    run = [one for call in calls if isinstance(call, ast.Call) for one in project.targets(call, parting.function)]
    groups = any(file.words & {"new_group", "create_group"} for file in project.python)
    return groups and len({id(one) for one in run}) == len(arms)


def _hands_on(parting: DivergentBranch, project: Project) -> bool:
    """Whether an arm hands a function in which ranks meet to somebody else, who may call it as often as the others."""
    communication, function = project.fact(CollectiveSites), parting.function
    given = (
        argument
        for call in walk(parting.decision)
        if isinstance(call, ast.Call)
        for argument in (*call.args, *(one.value for one in call.keywords))
        if isinstance(argument, (ast.Name, ast.Attribute))
    )
    return any(communication.of_function(one) is not None for value in given for one in project.meant(value, function))
