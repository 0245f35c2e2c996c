"""What a value that tells of a failure leads to in a program: words alone, or something that is done. Pure.

The value is followed through the files of a program: names, attributes, containers, what functions are given and give
back, and what a test of it decides. It may end in what is printed, logged or written down. Where it goes further than
can be followed, something is done with it: the answer leans to that side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from diagnostics.dynamic.exit_status.call_kinds import (
    COUNTS,
    PARSES,
    CallKind,
    call_kind,
    for_its_effect,
    leaves_with_0,
)
from diagnostics.dynamic.exit_status.syntax_index import is_main_test, is_success, own_nodes, syntax_index
from diagnostics.dynamic.exit_status.value_carriers import Consequence, Decided, ValueCarriers, by_test
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

# Expressions that hold a value, or are made of it, and do nothing else.
_HOLDING = (
    ast.Await, ast.Starred, ast.FormattedValue, ast.JoinedStr, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Set,
    ast.Dict, ast.Slice, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda,
)  # fmt: skip


class FailureFlow(ValueCarriers):
    """Follows values through the files of one program; `worded` says that a branch on one of them said something.

    Nodes are those of the first of several files that are the same one under two names.

    `leaves` says that values are what a child left behind: to ask whether there is one is a test, and to read a number
    out of it without one raises where it is missing. `again` are calls that start the child once more, which is no
    answer either where the last start failed, too.
    """

    def __init__(self, sources: Sequence[SourceFile], *, leaves: bool = False, again: Sequence[ast.AST] = ()) -> None:
        super().__init__(syntax_index(tuple(sources)))
        self._again, self._retries = frozenset(map(id, again)), False
        self.functions = self._index.functions
        self._leaves = leaves
        self.worded = False

    def of_values(self, nodes: Iterable[ast.AST]) -> Consequence:
        """Returns what comes of expressions."""
        for node in nodes:
            self._add(node, decided=Decided.NOT)
        return self._run()

    def of_names(self, names: Iterable[ast.expr]) -> Consequence:
        """Returns what comes of what is assigned to some targets."""
        for name in names:
            self._store(name, decided=Decided.NOT)
        return self._run()

    def of_blocks(self, statements: Sequence[ast.stmt]) -> Consequence:
        """Returns what comes of statements that run, or do not, where something failed."""
        self._under(statements)
        return self._run()

    def of_interruption(
        self, guard: ast.stmt, statement: ast.stmt, skipped: Sequence[ast.stmt], handler: Sequence[ast.stmt]
    ) -> Consequence:
        """Returns what comes of an exception that ended a statement inside of what guards it, and was handled.

        What is behind the statement was skipped. Where that leaves, what follows runs only then; where the handler
        does, only without it.
        """
        self._under([*handler, *skipped])
        exits = any(map(leaves_with_0, own_nodes(skipped)))
        self._under(self._index.passed_over(guard, [*handler, *skipped], exits=exits))
        match statement:
            case ast.Assign():
                for target in statement.targets:
                    self._store(target, decided=Decided.BY_TEST)
            case ast.AnnAssign() | ast.AugAssign():
                self._store(statement.target, decided=Decided.BY_TEST)
            case ast.Return() if statement.value is not None:
                self._given_back(self._index.function_of(statement), decided=Decided.BY_TEST)
            case ast.Expr():
                pass
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
                self._under([*statement.body, *getattr(statement, "orelse", ())])
            case _:
                self._act()
        return self._run()

    def _run(self) -> Consequence:
        while self._waiting and self._most < Consequence.ACTED_ON:
            node, decided = self._waiting.pop()
            self._rise(node, self._index.above.get(node), decided)
        return self._most

    # What holds the value.

    def _rise(self, node: ast.AST, parent: ast.AST | None, decided: Decided) -> None:
        match parent:
            case None | ast.Expr():
                return
            case ast.keyword():
                call = self._index.above[parent]
                if isinstance(call, ast.Call):
                    self._argument(call, parent, decided)
                else:
                    self._act()
            case ast.Call():
                self._argument(parent, node, decided)
            case ast.Attribute():
                self._attribute(parent, decided)
            case ast.Subscript():
                if isinstance(parent.ctx, ast.Load):
                    self._add(parent, decided=decided or by_test(parent.slice is node))
            case ast.Compare():
                asks = all(isinstance(one, (ast.Is, ast.IsNot)) for one in parent.ops)
                if not asks or self._leaves:  # of a code `is None` asks whether it has ended, not how
                    self._add(parent, decided=decided)
            case ast.BoolOp():
                later = parent.values[parent.values.index(node) + 1 :] if node in parent.values else []
                self._under(later)
                self._add(parent, decided=decided)
            case ast.NamedExpr():
                self._store(parent.target, decided=decided)
                self._add(parent, decided=decided)
            case ast.IfExp():
                if parent.test is node:
                    self._under([parent.body, parent.orelse])
                self._add(parent, decided=decided or by_test(parent.test is node))
            case ast.comprehension():
                self._comprehension(parent, node, decided)
            case _ if isinstance(parent, _HOLDING):
                self._add(parent, decided=decided)
            case _:
                self._statement(parent, node, decided)

    def _statement(self, parent: ast.AST, node: ast.AST, decided: Decided) -> None:
        match parent:
            case ast.Return() | ast.Yield() | ast.YieldFrom():
                self._given_back(self._index.function_of(parent), decided=decided)
            case ast.Assign():
                for target in parent.targets:
                    self._store(target, decided=decided)
            case ast.AnnAssign() | ast.AugAssign():
                self._store(parent.target, decided=decided)
            case ast.For() | ast.AsyncFor():
                self._store(parent.target, decided=decided)
                self._under([*parent.body, *parent.orelse], tested=decided)
            case ast.withitem():
                if parent.optional_vars is not None:
                    self._store(parent.optional_vars, decided=decided)
            case ast.If():
                self._branch(parent, decided)
            case ast.While() if self._leaves:  # to wait for a file is no answer
                self._under([*parent.body, *parent.orelse])
            case ast.While() if self._again and decided is not Decided.NOT:  # how often it was tried, and the like
                before, self._retries = self._retries, True
                self._under([*parent.body, *parent.orelse])
                self._retries = before
            case ast.Delete():
                return
            case _:
                self._act()

    def _comprehension(self, part: ast.comprehension, node: ast.AST, decided: Decided) -> None:
        whole = self._index.above[part]
        if part.iter is node:
            self._store(part.target, decided=decided)
        else:
            decided = Decided.AND_KEPT
            self._under([getattr(whole, name) for name in ("elt", "key", "value") if hasattr(whole, name)])
        self._add(whole, decided=decided)

    def _attribute(self, parent: ast.Attribute, decided: Decided) -> None:
        call = self._index.above.get(parent)
        if not isinstance(parent.ctx, ast.Load):
            return
        if not (isinstance(call, ast.Call) and call.func is parent):
            self._add(parent, decided=decided)
            return
        match call_kind(call):
            case CallKind.MAKES if parent.attr in COUNTS and not self._leaves:
                return  # whether a queue has anything, not what that is
            case CallKind.MAKES:
                self._add(call, decided=decided)
            case CallKind.STORES | CallKind.IDLE | CallKind.SAYS | CallKind.WRITES:
                return
            case _ if self._index.functions[parent.attr]:
                self._add(call, decided=decided)
            case _:
                self._act()

    # Where it is given to.

    def _argument(self, call: ast.Call, node: ast.AST, decided: Decided) -> None:
        if call.func is node:
            self._act()
            return
        own = self._index.own_functions(call)
        kind = call_kind(call)
        for function in own:
            self._to_parameter(function, call, node, decided)
        if own and (isinstance(call.func, ast.Name) or kind is CallKind.UNKNOWN):
            return
        match kind:
            case CallKind.SAYS | CallKind.WRITES:
                self._reach(Consequence.SAID, decided=decided)
            case CallKind.STORES if isinstance(call.func, ast.Attribute):
                self._store(call.func.value, decided=decided)
            case CallKind.MAKES:
                if self._leaves and last_name(call.func) in PARSES and not self._is_guarded(call):
                    self._act()
                self._add(call, decided=decided)
            case CallKind.IDLE:
                return
            case _ if last_name(call.func) in self._index.classes:
                for field in self._index.fields_of(last_name(call.func), call, node):
                    self._carry_attribute(field, decided=decided)
                self._add(call, decided=decided)
            case _:
                self._act()

    def _is_guarded(self, call: ast.Call) -> bool:
        """Whether it runs only where there is something to read: under a test, or for each item of what there is."""
        for one in self._index.ancestors_in_function(call):
            if isinstance(one, ast.For | ast.AsyncFor | ast.comprehension):
                if {("value", id(one.iter), decided) for decided in Decided} & self._seen:
                    return True
            elif isinstance(one, ast.If | ast.IfExp | ast.Try) and not is_main_test(one):
                return True
        return False

    def _to_parameter(self, function: ast.AST, call: ast.Call, node: ast.AST, decided: Decided) -> None:
        names = self._index.parameters_for(function, call, node)
        for name in names:
            self._carry(function, name, decided=decided)
        if not names:
            self._act()
        if getattr(function, "name", "") == "__init__":
            self._add(call, decided=decided)

    # What a test of it decides.

    def _branch(self, block: ast.If, decided: Decided) -> None:
        arms = [*block.body, *block.orelse]
        bad = block.orelse if is_success(block.test) else block.body
        stops = any(isinstance(one, (ast.Break, ast.Return)) for one in own_nodes(bad))
        # Who stops at the first failure has answered it; who gives up after several has not.
        before, self._retries = self._retries, decided is not Decided.NOT or not stops
        if any(isinstance(one, ast.Call) and call_kind(one) is CallKind.SAYS for one in own_nodes(arms)):
            self.worded = True
        self._under(arms)
        # To leave with 0 where a child failed is no answer to that.
        answers = self._leaves or is_success(block.test)
        exits = answers and any(map(leaves_with_0, own_nodes(arms)))
        self._under(self._index.passed_over(block, arms, exits=exits))
        self._retries = before

    def _under(self, nodes: Sequence[ast.AST], *, tested: Decided = Decided.BY_TEST) -> None:
        """Looks at what runs, or does not, by what a test of the value said; a loop over values is no test of them."""
        for node in own_nodes(nodes):
            if not self._first_time("under", id(node), tested) or self._most is Consequence.ACTED_ON:
                continue
            match node:
                case ast.Raise() | ast.Assert():
                    self._act()
                case ast.Return() | ast.Break():
                    if getattr(node, "value", None) is not None:
                        self._given_back(self._index.function_of(node), decided=tested)
                    self._under(self._index.rounds_after(node), tested=tested)
                case ast.Yield():
                    self._given_back(self._index.function_of(node), decided=tested)
                case ast.Assign():
                    for target in node.targets:
                        self._store(target, decided=tested)
                case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.AsyncFor() | ast.NamedExpr():
                    self._store(node.target, decided=tested)
                case ast.withitem() if node.optional_vars is not None:
                    self._store(node.optional_vars, decided=tested)
                case ast.Delete():
                    for target in node.targets:
                        self._store(target, decided=tested)
                case ast.Call():
                    self._call_under(node, tested=tested)

    def _call_under(self, call: ast.Call, *, tested: Decided) -> None:
        if self._retries and id(call) in self._again:
            return
        own = self._index.own_functions(call)
        kind = call_kind(call)
        for function in own:
            self._under(getattr(function, "body", ()), tested=tested)
        if own and (isinstance(call.func, ast.Name) or kind is CallKind.UNKNOWN):
            return
        match kind:
            case CallKind.SAYS:
                self._reach(Consequence.SAID)
            case CallKind.WRITES:
                self._reach(Consequence.RECORDED if tested is not Decided.NOT else Consequence.SAID)
            case CallKind.STORES if isinstance(call.func, ast.Attribute):
                self._store(call.func.value, decided=tested)
            case CallKind.MAKES if for_its_effect(call, self._index.above.get(call)):
                self._act()
            case CallKind.MAKES | CallKind.IDLE | CallKind.LEAVES_WITH_0 | CallKind.STORES:
                return
            case _ if last_name(call.func) in self._index.classes:
                return
            case _:
                self._act()
