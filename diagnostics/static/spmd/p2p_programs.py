"""What each rank of a small job sends and receives in a function, where peers and tests are known. Pure, bounded."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.dataflow.rank_predicates import OPEN, ConcreteRank
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, is_generator
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_arguments import operation_call
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites, SyncKind
from diagnostics.static.spmd.p2p_simulation import UNKNOWN, Message, MessageKind

MOST_EVENTS = 200
MOST_DEPTH = 3
MOST_ROUNDS = 8
# Objects go as two messages, of which the first blocks by other rules: not followed.
_SENDS, _RECEIVES = (
    tuple(op for op in half if op not in operations.PICKLED) for half in (operations.SENDS, operations.RECEIVES)
)
_FALL, _CONTINUE, _BREAK, _RETURN = "fall", "continue", "break", "return"
_ENDS: dict[type[ast.stmt], str] = {ast.Return: _RETURN, ast.Break: _BREAK, ast.Continue: _CONTINUE}
_FIRST = ConcreteRank(0)


class UndecidedError(Exception):
    """What a rank does here cannot be worked out."""


class NoSuchRankError(Exception):
    """A peer that a world of this size does not have: the program is meant for another one."""


@dataclass
class _Frame:
    """One function being followed: its known local names, and the handles of what it has posted."""

    function: Function
    given: dict[str, Any]
    depth: int
    handles: dict[str, Message] = field(default_factory=dict)


@dataclass(eq=False)
class P2PPrograms:
    """Follows functions of a project on one rank at a time."""

    project: Project
    events: list[Message] = field(default_factory=list)
    on: ConcreteRank = _FIRST

    def program(self, function: Function, on: ConcreteRank) -> list[Message]:
        """Returns what a rank does in a function.

        Raises UndecidedError where that is not known, NoSuchRankError where a peer lies outside the world.
        """
        self.events, self.on = [], on
        if not isinstance(function.syntax, ast.Lambda):
            self._block(function.syntax.body, _Frame(function, {}, MOST_DEPTH))
        return self.events

    @property
    def _values(self) -> ConcreteEvaluator:
        return ConcreteEvaluator(self.project)

    # Statements

    def _block(self, block: Sequence[ast.stmt], frame: _Frame) -> str:
        for statement in block:
            end = self._statement(statement, frame)
            if end != _FALL:
                return end
        return _FALL

    def _statement(self, statement: ast.stmt, frame: _Frame) -> str:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return _FALL
            case ast.If():
                return self._branch(statement, frame)
            case ast.For() | ast.While() | ast.AsyncFor():
                return self._loop(statement, frame)
            case ast.With():
                for item in statement.items:
                    self._expression(item.context_expr, frame)
                return self._block(statement.body, frame)
            case ast.Try() | ast.Match() | ast.AsyncWith():
                if self._matters(statement, frame):
                    raise UndecidedError
                return _FALL
            case ast.Raise():
                raise UndecidedError
        for child in children(statement):
            if isinstance(child, ast.expr):
                self._expression(child, frame)
        self._keep_handle(statement, frame)
        return _ENDS.get(type(statement), _FALL)

    def _branch(self, statement: ast.If, frame: _Frame) -> str:
        self._expression(statement.test, frame)
        truth = self._values.truth(statement.test, frame.function, self.on, frame.given)
        if truth is not None:
            return self._block(statement.body if truth else statement.orelse, frame)
        if self._matters(statement, frame):
            raise UndecidedError
        return _FALL

    def _matters(self, statement: ast.AST, frame: _Frame) -> bool:
        """Whether something in a statement that is not followed could change what is passed."""
        for node in walk(statement):
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                return True
            if isinstance(node, ast.Call) and (self._reach(node, frame) is not None or _waits(node)):
                return True
        return False

    def _loop(self, statement: ast.For | ast.While | ast.AsyncFor, frame: _Frame) -> str:
        if not any(self._matters(one, frame) for one in statement.body):
            return _FALL
        if isinstance(statement, ast.For):
            return self._rounds(statement, frame)
        if isinstance(statement, ast.AsyncFor):
            raise UndecidedError
        self._expression(statement.test, frame)
        truth = self._values.truth(statement.test, frame.function, self.on, frame.given)
        if truth is not True:
            raise UndecidedError
        end = self._block(statement.body, frame)
        return _FALL if end == _BREAK else _RETURN  # nothing behind `while True` is asked about

    def _rounds(self, statement: ast.For, frame: _Frame) -> str:
        self._expression(statement.iter, frame)
        over = self._values.value(statement.iter, frame.function, self.on, frame.given)
        names = {node.id for node in walk(statement.target) if isinstance(node, ast.Name)}
        if over is not OPEN and isinstance(over, list) and isinstance(statement.target, ast.Name):
            for item in over[:MOST_ROUNDS]:
                frame.given[statement.target.id] = item
                end = self._block(statement.body, frame)
                if end == _RETURN:
                    return end
                if end == _BREAK:
                    break
        else:  # one round stands for all
            frame.given.update(dict.fromkeys(names, OPEN))
            if self._block(statement.body, frame) not in (_FALL, _CONTINUE):
                raise UndecidedError
        frame.given.update(dict.fromkeys(names, OPEN))
        return _FALL

    # Expressions

    def _expression(self, value: ast.expr, frame: _Frame) -> None:
        if isinstance(value, ast.Lambda):
            return
        if isinstance(value, ast.IfExp):
            truth = self._values.truth(value.test, frame.function, self.on, frame.given)
            if truth is None and self._matters(value, frame):
                raise UndecidedError
            for part in [value.test] if truth is None else [value.test, value.body if truth else value.orelse]:
                self._expression(part, frame)
            return
        if isinstance(value, (ast.BoolOp, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            if self._matters(value, frame):
                raise UndecidedError
            return
        for child in children(value):
            for one in [child.value] if isinstance(child, ast.keyword) else [child]:
                if isinstance(one, ast.expr):
                    self._expression(one, frame)
        if isinstance(value, ast.Call):
            self._call(value, frame)

    def _reach(self, call: ast.Call, frame: _Frame) -> CollectiveSite | None:
        return self.project.fact(CollectiveSites).of_call(call, frame.function)

    def _call(self, call: ast.Call, frame: _Frame) -> None:
        if _waits(call):
            self._wait(call, frame)
            return
        reach = self._reach(call, frame)
        if reach is None:
            return
        if len(self.events) >= MOST_EVENTS or frame.depth <= 0:
            raise UndecidedError
        if len(reach.chain) > 1:
            self._follow(call, frame)
            return
        found = operation_call(call, frame.function, self.project)
        if reach.meeting is not SyncKind.PEER:
            if reach.grouped or not reach.sure:
                raise UndecidedError
            self.events.append(Message(MessageKind.MEET, call, frame.function, op=reach.op))
            return
        if found is None or found.grouped or found.op not in (*_SENDS, *_RECEIVES):
            raise UndecidedError
        self._message(
            found.op, found.argument("dst" if found.op in _SENDS else "src"), found.argument("tag"), call, frame
        )

    def _message(self, op: str, peer: ast.expr | None, tag: ast.expr | None, call: ast.Call, frame: _Frame) -> None:
        number = OPEN if peer is None else self._values.value(peer, frame.function, self.on, frame.given)
        if isinstance(number, bool) or not isinstance(number, int):
            raise UndecidedError
        if not 0 <= number < self.on.world or number == self.on.rank:
            raise NoSuchRankError
        kind = MessageKind.SEND if op in _SENDS else MessageKind.RECEIVE
        told = 0 if tag is None else self._values.value(tag, frame.function, self.on, frame.given)
        told = UNKNOWN if told is OPEN else told
        self.events.append(
            Message(kind, call, frame.function, number, told, op, blocking=op not in operations.ALWAYS_ASYNC)
        )

    def _follow(self, call: ast.Call, frame: _Frame) -> None:
        targets = self.project.targets(call, frame.function)
        if len(targets) != 1 or is_generator(targets[0]) or isinstance(targets[0].syntax, ast.Lambda):
            raise UndecidedError
        given = self._values.bindings(call, targets[0], frame.function, self.on, frame.given)
        self._block(targets[0].syntax.body, _Frame(targets[0], given, frame.depth - 1))

    # Handles

    def _keep_handle(self, statement: ast.stmt, frame: _Frame) -> None:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            last = self.events[-1] if self.events else None
            if last is not None and last.call is statement.value and not last.blocking:
                frame.handles[statement.targets[0].id] = last

    def _wait(self, call: ast.Call, frame: _Frame) -> None:
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        awaited = frame.handles.get(held.id) if isinstance(held, ast.Name) else None
        last = self.events[-1] if self.events else None
        if awaited is None and last is not None and last.call is held:
            awaited = last
        if awaited is not None:
            self.events.append(Message(MessageKind.WAIT, call, frame.function, awaited=awaited))


def _waits(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "wait"
