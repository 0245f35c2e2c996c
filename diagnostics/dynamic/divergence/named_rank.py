"""The rank for which a program has something of its own: `extra if rank == 0 else usual` names rank 0. Pure."""

from __future__ import annotations

import ast

from diagnostics.dynamic.divergence.divergence import DivergencePoint
from diagnostics.dynamic.job.job import Job
from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.functions import last_name


def named_rank(job: Job, decision: DivergencePoint) -> int | None:
    """Returns the one rank that a conditional expression in the decision's statement is about; None where it has none.

    Only the head of a loop is looked at, not what runs in it.
    """
    statement = job.sources.file(decision.frame.file).statement_at(decision.frame.line)
    choices = [one for one in ast.walk(_head(statement)) if isinstance(one, ast.IfExp)] if statement is not None else []
    named = [rank for one in choices if (rank := _compared_with(one.test)) is not None]
    return named[0] if len(named) == 1 else None


def _head(statement: ast.stmt) -> ast.AST:
    match statement:
        case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.While(test=head):
            return head
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
            return statement
    return ast.Pass()


def _compared_with(test: ast.expr) -> int | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _compared_with(operand)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot()], comparators=[right]):
            for name, number in ((left, right), (right, left)):
                if isinstance(number, ast.Constant) and type(number.value) is int and _is_rank(name):
                    return number.value
        case ast.Name() | ast.Attribute() | ast.Call() if _is_rank(test) and not _is_number(test):
            return 0  # is_main_process and the like
    return None


def _is_rank(node: ast.expr) -> bool:
    name = last_name(node)
    return bool(rank_words.RANK_NAME.search(name) or name in rank_words.RANK_CALLS)


def _is_number(node: ast.expr) -> bool:
    name = last_name(node)
    return bool(rank_words.OWN_RANK.search(name) or name in rank_words.RANK_CALLS)
