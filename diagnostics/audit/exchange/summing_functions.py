"""Functions of a project that give back, or leave in what they are given, its sum over all ranks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.agent.shared import operations
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_call

# Who divides by the number of ranks, or subtracts what was there, gives no bare sum.
_AVERAGES = re.compile(r"world|num_proc|n_proc|num_gpu|num_ranks|n_gpu|replicas|avg|mean", re.IGNORECASE)
_DEPTH = 2


def bare_sum(call: ast.Call, function: Function, project: Project) -> CollectiveCallSite | None:
    """Returns a call that sums its tensor in place over the ranks, None for one that does something else."""
    site = operation_call(call, function, project)
    if site is None or site.op not in operations.SUMS:
        return None
    given = site.argument("op")
    return site if given is None or last_name(given) == "SUM" else None


def sums_what_it_is_given(
    call: ast.Call, function: Function, text: str, project: Project, *, gives: bool, depth: int = _DEPTH
) -> tuple[ast.Call, Function] | None:
    """Returns where a function that `call` runs sums over the ranks what it is given as `text`.

    `gives`: it gives back what was summed; else the sum is in what it was given itself.
    """
    targets = project.targets(call, function)
    if len(targets) != 1 or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    target = targets[0]
    if isinstance(target.syntax, ast.Module) or target.is_generator or _AVERAGES.search(ast.unparse(target.syntax)):
        return None
    for name in _parameters_given(call, target, text):
        if not gives and name in target.assigned:
            continue  # it is another object by then: `x = torch.tensor(x)`
        known = made_from({name}, target.own_nodes) if gives else {name}
        for one in target.nodes_of(ast.Call):
            found = _summed_by(one, target, known, project, gives=gives, depth=depth)
            if found is not None and (not gives or _is_given_back(found[0], target)):
                return found[1], found[2]
        if not gives:  # of a copy, which is put back: `t = torch.tensor(d[key]); all_reduce(t); d[key] = t.item()`
            for one in target.nodes_of(ast.Call):
                found = _summed_by(one, target, made_from({name}, target.own_nodes), project, gives=True, depth=0)
                if found is not None and name in _put_into(made_from(found[0], target.own_nodes), target):
                    return found[1], found[2]
    return None


def _summed_by(
    call: ast.AST, function: Function, known: set[str], project: Project, *, gives: bool, depth: int
) -> tuple[set[str], ast.Call, Function] | None:
    """Returns (names of what was summed, the sum, the function it is in)."""
    if not isinstance(call, ast.Call) or not call.args or not names_in(call.args[0]) & known:
        return None
    if bare_sum(call, function, project) is not None:
        return (names_in(call.args[0]), call, function) if gives or isinstance(call.args[0], ast.Name) else None
    if not depth:
        return None
    text = ast.unparse(call.args[0])
    inner = sums_what_it_is_given(call, function, text, project, gives=gives, depth=depth - 1)
    if inner is None:
        return None
    stored = {name for one in function.nodes_of(ast.Assign) if isinstance(one, ast.Assign) and one.value is call
              for target in one.targets for name in names_in(target)}  # fmt: skip
    returned = any(isinstance(one, ast.Return) and one.value is call for one in function.nodes_of(ast.Return))
    return (stored | ({"return"} if returned else set()), *inner)


def _is_given_back(summed: set[str], function: Function) -> bool:
    known = made_from(summed, function.own_nodes)
    known |= _put_into(known, function)
    returned = [one.value for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value]
    return "return" in summed or any(names_in(one) & known for one in returned)


def _put_into(known: set[str], function: Function) -> set[str]:
    """Returns what is filled with some values, and what holds what is filled: `for m in all.values(): m[k] = x`."""
    filled = {
        name
        for target, value in (pair for node in function.own_nodes for pair in _bindings(node))
        if names_in(value) & known
        for one in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
        if isinstance(one, ast.Subscript)
        for name in names_in(one)
    }
    loops = [one for one in function.nodes_of(ast.For) if isinstance(one, ast.For)]
    return filled | {name for one in loops if names_in(one.target) & filled for name in names_in(one.iter)}


def _parameters_given(call: ast.Call, target: Function, text: str) -> Iterator[str]:
    """Yields the parameters of a function for which a call gives what reads as `text`."""
    for name, value in zip(target.parameters[target.implied :], call.args, strict=False):
        if ast.unparse(value) == text:
            yield name
    for one in call.keywords:
        if one.arg in target.parameters and ast.unparse(one.value) == text:
            yield one.arg


def made_from(names: set[str], nodes: Sequence[ast.AST]) -> set[str]:
    """Returns some names and those that are made from them: assigned, looped over, or filled with them."""
    known = set(names)
    pairs = [(target, value) for node in nodes for target, value in _bindings(node)]
    for _ in range(6):
        more = {name for target, value in pairs if names_in(value) & known for name in names_in(target)} - known
        if not more:
            break
        known |= more
    return known - {"self", "cls"} | (names & {"self"})


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) or (isinstance(node, ast.AnnAssign) and node.value):
        yield node.target, node.value  # type: ignore[misc] # there is one
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.target, node.iter


def names_in(node: ast.AST) -> set[str]:
    """Returns the names in an expression; of `out[key]`, stored to, not those of the key."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return names_in(node.value)
    return {one.id for one in walk(node) if isinstance(one, ast.Name)}
