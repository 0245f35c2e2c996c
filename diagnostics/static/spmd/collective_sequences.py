"""The operations that a rank passes in a function, under an assumption about one decision in it. Pure and bounded.

Two ranks that decide differently pass two sequences; where these are equal, whatever the code looks like, nobody waits:
a barrier in both arms, or one before and one after the work of rank 0.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates
from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.functions import Function, is_generator, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.branch_assumption import AskedFunction, BranchAssumption, FollowedFunction
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites, SyncKind
from diagnostics.static.spmd.common_conditions import handed_on, known_by
from diagnostics.static.spmd.sequence_values import (
    BREAK,
    CONTINUE,
    EXIT,
    FALL,
    RAISE,
    RETURN,
    CollectiveSequence,
    either,
    joined,
    leaves_in_one_arm,
    stripped,
    with_rest,
)  # fmt: skip

MOST_DEPTH = 5
MOST_ITEMS = 3000

_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert, ast.Delete)  # nothing in them leaves or decides
_SOMEWHERE = ConcreteRank(1)


@dataclass(eq=False)
class CollectiveSequences:
    """Follows functions of a project."""

    project: Project
    communication: CollectiveSites
    tests: RankPredicates
    _budget: int = 0
    _deciding: int = 0  # id of the function that holds the decision
    _entered: set[int] = field(default_factory=set)  # ids of the functions that were followed on this way
    _known: dict[AskedFunction, FollowedFunction] = field(default_factory=dict)

    def way(self, function: Function, assumption: BranchAssumption) -> CollectiveSequence:
        """Returns what a rank passes from the entry of a function to its end."""
        self._budget, self._deciding = MOST_ITEMS, id(function)
        return self._function(function, assumption, MOST_DEPTH)

    def part(
        self, node: ast.If | ast.While | ast.IfExp, function: Function, assumption: BranchAssumption
    ) -> CollectiveSequence:
        """Returns what a rank passes in one branch alone, up to the last in which ranks meet."""
        self._budget, self._deciding = MOST_ITEMS, id(function)
        way = CollectiveSequence()
        if isinstance(node, ast.IfExp):
            self._expression(node, function, assumption, MOST_DEPTH, way)
        else:
            way = self._statement(node, function, assumption, MOST_DEPTH)
        return replace(way, items=stripped(way.items))

    @property
    def exhausted(self) -> bool:
        """Whether the last way was too long to be followed."""
        return self._budget <= 0

    def _function(self, function: Function, assumption: BranchAssumption, depth: int) -> CollectiveSequence:
        """Follows a function: once for all decisions that stand in no function it comes to."""
        asked = (id(function), depth, assumption.on, assumption.facts)
        known = self._known.get(asked)
        if known is not None and self._deciding not in known.entered and known.cost < self._budget:
            self._budget -= known.cost
            self._entered |= known.entered
            return known.sequence
        around, before, self._entered = self._entered, self._budget, {id(function)}
        found = self._followed(function, assumption, depth)
        if self._budget > 0 and self._deciding not in self._entered:
            self._known[asked] = FollowedFunction(found, before - self._budget, frozenset(self._entered))
        self._entered |= around
        return found

    def _followed(self, function: Function, assumption: BranchAssumption, depth: int) -> CollectiveSequence:
        syntax = function.syntax
        if isinstance(syntax, ast.Lambda):
            way = CollectiveSequence()
            self._expression(syntax.body, function, assumption, depth, way)
            return way
        return self._block(syntax.body, function, assumption, depth)

    # Statements

    def _block(
        self, statements: Sequence[ast.stmt], function: Function, assumption: BranchAssumption, depth: int
    ) -> CollectiveSequence:
        whole = CollectiveSequence()
        for at, statement in enumerate(statements):
            if self._budget <= 0:
                break
            part = self._statement(statement, function, assumption, depth)
            if leaves_in_one_arm(part):
                return joined(whole, with_rest(part, self._block(statements[at + 1 :], function, assumption, depth)))
            whole.items += part.items
            whole.met += part.met
            if part.end != FALL:
                whole.end = part.end
                break
        return whole

    def _statement(
        self, statement: ast.stmt, function: Function, assumption: BranchAssumption, depth: int
    ) -> CollectiveSequence:
        self._budget -= 1
        way = CollectiveSequence()
        if isinstance(statement, _PLAIN) and id(statement) not in self.communication.meeting_in(function):
            return way
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return way
            case ast.If():
                self._expression(statement.test, function, assumption, depth, way)
                return self._branch(statement, function, assumption, depth, way)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, function, assumption, depth)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    self._expression(item.context_expr, function, assumption, depth, way, entered=True)
                return joined(way, self._block(statement.body, function, assumption, depth))
            case ast.Try():
                return self._try(statement, function, assumption, depth)
            case ast.Match():
                return self._match(statement, function, assumption, depth)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                for child in children(statement):
                    if isinstance(child, ast.expr):
                        self._expression(child, function, assumption, depth, way)
                way.end = {ast.Return: RETURN, ast.Raise: RAISE, ast.Break: BREAK, ast.Continue: CONTINUE}[
                    type(statement)
                ]
                return way
            case _:
                for child in children(statement):
                    if isinstance(child, ast.expr):
                        self._expression(child, function, assumption, depth, way)
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                    leaves = self.project.name(statement.value.func, function) in exit_calls.LEAVING
                    way.end = EXIT if leaves else FALL
                return way

    def _branch(
        self,
        statement: ast.If,
        function: Function,
        assumption: BranchAssumption,
        depth: int,
        before: CollectiveSequence,
    ) -> CollectiveSequence:
        value = self.decided(statement.test, statement, function, assumption)
        if value is not None:
            arm = statement.body if value else statement.orelse
            return joined(before, self._block(arm, function, assumption, depth))
        arms = (self._block(arm, function, assumption, depth) for arm in (statement.body, statement.orelse))
        return joined(before, either(*arms))

    def _loop(
        self,
        statement: ast.For | ast.AsyncFor | ast.While,
        function: Function,
        assumption: BranchAssumption,
        depth: int,
    ) -> CollectiveSequence:
        way = CollectiveSequence()
        if isinstance(statement, ast.While):
            self._expression(statement.test, function, assumption, depth, way)
            if self.decided(statement.test, statement, function, assumption) is False:
                return way
        else:
            self._expression(statement.iter, function, assumption, depth, way)
            if assumption.decision is statement and not assumption.value:
                return way  # on this rank the loop is over
        body = self._block(statement.body, function, assumption, depth)
        if body.end == RAISE:
            return CollectiveSequence(way.items + body.items, way.met + body.met, RAISE)
        if body.items or body.end in (RETURN, EXIT):
            way.items += (("loop", body.items, body.end),)
            way.met += body.met
        if body.end in (RETURN, EXIT) and isinstance(statement, ast.While):
            way.end = body.end
            return way
        return joined(way, self._block(statement.orelse, function, assumption, depth))

    def _try(
        self, statement: ast.Try, function: Function, assumption: BranchAssumption, depth: int
    ) -> CollectiveSequence:
        if isinstance(assumption.decision, ast.ExceptHandler) and assumption.decision in statement.handlers:
            body = assumption.decision.body if assumption.value else [*statement.body, *statement.orelse]
            way = self._block(body, function, assumption, depth)
        else:
            way = self._block([*statement.body, *statement.orelse], function, assumption, depth)
        last = self._block(statement.finalbody, function, assumption, depth)
        end = last.end if last.end != FALL else way.end
        whole = (
            joined(way, last)
            if way.end == FALL
            else CollectiveSequence(way.items + last.items, way.met + last.met, way.end)
        )
        whole.end = end
        return whole

    def _match(
        self, statement: ast.Match, function: Function, assumption: BranchAssumption, depth: int
    ) -> CollectiveSequence:
        arms = [self._block(case.body, function, assumption, depth) for case in statement.cases]
        whole = arms[-1] if arms else CollectiveSequence()
        for arm in arms[-2::-1]:
            whole = either(arm, whole)
        return whole

    def decided(
        self, test: ast.expr, statement: ast.AST, function: Function, assumption: BranchAssumption
    ) -> bool | None:
        """Returns how a test falls under the assumption, None where that is open."""
        if statement is assumption.decision and assumption.on is None:
            return assumption.value
        known = known_by(test, assumption.facts)
        if known is not None:
            return known
        return self._truth(test, function, assumption)

    def _truth(self, test: ast.expr, function: Function, assumption: BranchAssumption) -> bool | None:
        on = assumption.on or _SOMEWHERE
        truth = self.tests.truth(test, function, on)
        if assumption.on is None and truth is not None and self.tests.asks(test, function) is not None:
            return None  # it asks for the rank, which is not what is being decided here
        return truth

    # Expressions

    def _expression(
        self,
        value: ast.expr,
        function: Function,
        assumption: BranchAssumption,
        depth: int,
        way: CollectiveSequence,
        *,
        entered: bool = False,
    ) -> None:
        """Adds what is passed while a value is worked out."""
        if not entered and id(value) not in self.communication.meeting_in(function):
            return
        match value:
            case ast.Lambda() | ast.Constant() | ast.Name():
                return
            case ast.IfExp():
                truth = self.decided(value.test, value, function, assumption)
                self._expression(value.test, function, assumption, depth, way)
                one, other = CollectiveSequence(), CollectiveSequence()
                self._expression(value.body, function, assumption, depth, one)
                self._expression(value.orelse, function, assumption, depth, other)
                chosen = either(one, other) if truth is None else one if truth else other
                way.items, way.met = way.items + chosen.items, way.met + chosen.met
                return
            case ast.BoolOp():
                self._short_cut(value, function, assumption, depth, way)
                return
            case ast.Call():
                for argument in (*value.args, *(one.value for one in value.keywords)):
                    self._expression(argument, function, assumption, depth, way)
                if isinstance(value.func, (ast.Attribute, ast.Call)):
                    inner = value.func.value if isinstance(value.func, ast.Attribute) else value.func
                    self._expression(inner, function, assumption, depth, way)
                self._call(value, function, assumption, depth, way, entered)
                return
        for child in children(value):
            if isinstance(child, ast.expr):
                self._expression(child, function, assumption, depth, way)
            elif isinstance(child, ast.comprehension):
                self._expression(child.iter, function, assumption, depth, way)

    def _short_cut(
        self, value: ast.BoolOp, function: Function, assumption: BranchAssumption, depth: int, way: CollectiveSequence
    ) -> None:
        ending = isinstance(value.op, ast.Or)
        for part in value.values:
            self._expression(part, function, assumption, depth, way)
            if self._truth(part, function, assumption) is ending:
                return

    def _call(
        self,
        call: ast.Call,
        function: Function,
        assumption: BranchAssumption,
        depth: int,
        way: CollectiveSequence,
        entered: bool,
    ) -> None:
        reach = self.communication.of_call(call, function)
        if entered and reach is None:
            self._run_by_with(call, function, assumption, depth, way)
            return
        if reach is None:
            return
        if self.communication.own(call, function) is not None or depth <= 0:
            if counts(reach):
                way.items += ((reach.op,),)
                way.met.append(reach)
            return
        for target in self.project.targets(call, function):
            if self.communication.of_function(target) is None or is_generator(target):
                continue
            facts = handed_on(assumption.facts, call, target)
            handed = assumption if facts is assumption.facts else replace(assumption, facts=facts)
            inner = self._function(target, handed, depth - 1)
            way.items += inner.items
            way.met += [self._behind(call, function, one, sure=reach.sure) for one in inner.met]
            return

    def _run_by_with(
        self, call: ast.Call, function: Function, assumption: BranchAssumption, depth: int, way: CollectiveSequence
    ) -> None:
        """A `with` on one of the project's own generators runs it."""
        for target in self.project.targets(call, function):
            if is_generator(target) and depth > 0:
                inner = self._function(target, assumption, depth - 1)
                way.items += inner.items
                way.met += [self._behind(call, function, one) for one in inner.met]
                return

    def _behind(
        self, call: ast.Call, function: Function, reach: CollectiveSite, *, sure: bool = True
    ) -> CollectiveSite:
        guess = last_name(call.func) if self.project.is_guess(call, function) else ""
        chain = ((call, function), *reach.chain)
        return replace(reach, chain=chain, sure=reach.sure and sure, guessed=reach.guessed or guess)


def counts(reach: CollectiveSite) -> bool:
    """Whether every rank has to pass the operation: not those of two ranks, nor of a group that may be smaller."""
    return reach.meeting is not SyncKind.PEER and not reach.grouped
