"""Why a value can differ between ranks: one word and the line where the difference comes in. Pure.

One summary a name, attribute and function, whatever the calling context; what a collective made equal is equal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from diagnostics.static.dataflow.agreed_values import AgreedValues
from diagnostics.static.dataflow.fixed_attributes import FixedAttributes
from diagnostics.static.dataflow.length_taint import LengthTaint
from diagnostics.static.dataflow.name_taints import AT_ENTRY
from diagnostics.static.dataflow.reaching_names import ReachingNames
from diagnostics.static.dataflow.signal_flags import told_from_outside
from diagnostics.static.dataflow.taint_rules import (
    adds_key,
    agrees,
    arguments_of,
    as_data,
    called_loss,
    content,
    importance,
    is_layout,
    is_none,
    is_placement,
    is_share,
    parameter_at,
    parts_of,
    returned_item,
    statements_of,
)
from diagnostics.static.dataflow.taint_sources import DATA, EXCEPTION, ORDER, RANK, Taint, reads_data, source_of
from diagnostics.static.dataflow.taint_store import TaintStore
from diagnostics.static.program.call_graph import CallGraph, Function, last_name
from diagnostics.static.program.functions import paired

_ROUNDS = 5
_SPREADING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension,
              ast.withitem, ast.Return, ast.Yield, ast.If, ast.While, ast.ExceptHandler, ast.Call)  # fmt: skip
MOST_FUNCTIONS = 3000
_SETTINGS = {"scheduler", "scaler", "ema", "logger", "sampler", "teacher", "callback", "writer", "optimizer"}
_TAKES_OUT = {"sorted": ORDER, "isinstance": DATA}  # batches are of one type on all ranks
# What is made with a seed has other content on other ranks.
_SEEDS = {"manual_seed", "seed", "default_rng", "RandomState", "Random", "Generator", "seed_everything", "set_seed"}
_CHANGES = re.compile(r"^(?:append|extend|add|update|insert|setdefault|remove|pop|register\w*|add_\w+|put|discard)$")


Found = Taint | None


@dataclass(eq=False)
class RankTaint:
    """What can differ between ranks in a program."""

    program: CallGraph
    only: tuple[Function, ...] | None = None  # spread in these alone
    _known: TaintStore = field(default_factory=TaintStore)

    def __post_init__(self) -> None:
        """Spreads what is known until nothing changes."""
        functions = self.program.functions[:MOST_FUNCTIONS] if self.only is None else self.only
        for target, where, taint in told_from_outside(self.program):
            self._set(target, taint, where, target)
        for function in self._known.rounds(functions, _ROUNDS):
            self._spread(function)

    # Questions

    def of(self, value: ast.AST | None, function: Function) -> Found:
        """Returns the weightiest reason why `value` can differ between ranks, None where none is seen."""
        return max(self._reasons(value, function), key=importance, default=None) if value is not None else None

    def is_agreed(self, value: ast.expr, function: Function) -> bool:
        """Whether a collective made a value the same on every rank."""
        return self._agreed.holds(value, function)

    def all_of(self, value: ast.AST, function: Function) -> tuple[Taint, ...]:
        """Returns every reason why `value` can differ between ranks."""
        return tuple(self._reasons(value, function))

    def of_loop(self, iterable: ast.expr, function: Function) -> Found:
        """Returns why a loop over `iterable` can go round a different number of times, or in another order."""
        order = (one for one in self._reasons(iterable, function) if one.why == ORDER)
        return max([*self._lengths.of(iterable, function), *order], key=importance, default=None)

    def returned(self, function: Function) -> Found:
        """Returns why what a function returns can differ."""
        return self._known.returned(function)

    @cached_property
    def _agreed(self) -> AgreedValues:
        return AgreedValues(self.program)

    @cached_property
    def fixed(self) -> FixedAttributes:
        """What constructors set and nothing changes."""
        return FixedAttributes(self.program)

    @cached_property
    def _lengths(self) -> LengthTaint:
        return LengthTaint(self.program, self.of, self._changed_by, lambda name: agrees(name))

    def _changed_by(self, name: str, function: Function) -> Found:
        """Returns why something was added to what has this name on some ranks only."""
        found = self._known.grown(function, name)
        if found is not None:
            return found
        found = self._known.best(function, name)
        if found is not None and found.control and (found.file, found.function) == (function.file, function.name):
            return found
        found = self._known.attribute(name)
        return found if found is not None and found.control else None

    # Reasons

    def _reasons(self, value: ast.AST, function: Function, depth: int = 40) -> Iterator[Taint]:
        if depth < 0 or isinstance(value, ast.Lambda):
            return
        own = self._own_reason(value, function)
        if own is not None:
            yield own
        holder = self._reaching.settings_read(value)
        if holder is not None and (found := self.of(holder, function)) is not None and found.why != DATA:
            return  # what was put in beside the settings differs, and not they; of a batch every item does
        if isinstance(value, ast.Call):
            yield from self._of_call(value, function, depth)
            return
        if isinstance(value, ast.Name):
            yield from filter(None, (self._of_name(value, function),))
            return
        if isinstance(value, ast.Attribute):
            if not self._agreed.filled_attribute(value, function):
                yield from filter(None, (self._known.attribute(self.program.attribute_key(value, function)),))
            yield from (made for one in self.program.getters(value, function) if (made := self.returned(one)))
            if is_layout(value):
                return
            if isinstance(value.value, ast.Name) and value.value.id in ("self", "args", "cfg", "config"):
                return
        if isinstance(value, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in value.ops):
            left = value.left
            if isinstance(left, ast.Name) and left.id in _SETTINGS:
                return
        share = is_share(value)
        member = isinstance(value, ast.Compare) and all(isinstance(op, (ast.In, ast.NotIn)) for op in value.ops)
        for child in parts_of(value):
            for one in self._reasons(child, function, depth - 1):
                if not (member and one.why == ORDER):  # in whatever order it is kept
                    yield as_data(one) if share else one

    def _of_call(self, call: ast.Call, function: Function, depth: int) -> Iterator[Taint]:
        name = last_name(call.func)
        if agrees(name) or self.program.agrees(call, function):
            return
        if name in _SEEDS:
            yield from (as_data(one) for one in self._of_parts(call, function, depth))
            return
        if name == "len" and call.args:
            yield from self._lengths.of(call.args[0], function)
            return
        targets = self.program.targets(call, function)
        yield from filter(None, (self._known.returned(target) for target in targets))
        if name in _TAKES_OUT:
            yield from (one for one in self._of_parts(call, function, depth) if one.why != _TAKES_OUT[name])
            return
        yield from self._of_parts(call, function, depth, called=bool(targets))

    def _of_parts(self, call: ast.Call, function: Function, depth: int, *, called: bool = False) -> Iterator[Taint]:
        if isinstance(call.func, ast.Attribute):
            yield from self._reasons(call.func.value, function, depth - 1)
        elif isinstance(call.func, ast.Name) and not called:
            found = self._of_name(call.func, function)
            if found is not None:
                yield found
        if called:
            return  # what it returns was asked of it; its arguments spread to its parameters
        for argument in arguments_of(call):
            yield from self._reasons(argument, function, depth - 1)

    @cached_property
    def _reaching(self) -> ReachingNames:
        return ReachingNames(self.program)

    def _of_name(self, name: ast.Name, function: Function) -> Found:
        if self._agreed.made_last(name, function):
            return None
        counted = self._reaching.counted_by(name, function)
        if counted is not None:
            return self.of(counted, function)
        scope: Function | None = function
        while scope is not None:
            if self._known.holds(scope, name.id):
                filled = self._agreed.filled_at(name, scope)  # what was set before that is gone
                flows = scope is function or filled is not None
                return self._known.at(name, scope, filled or 0) if flows else self._known.best(scope, name.id)
            if name.id in scope.parameters or name.id in scope.assigned:
                return None
            scope = scope.outer
        return None

    def _own_reason(self, value: ast.AST, function: Function) -> Found:
        why = source_of(value)
        if why is None or self._agreed.is_read_off(value, function):
            return None
        if isinstance(value, ast.Name) and self._reaching.counts(value.id, function):
            return None  # `for dp_rank in range(...)` goes through all of them
        return Taint(why, function.file, getattr(value, "lineno", 1), function.name, syntax=value)

    # Spreading

    def _spread(self, function: Function) -> None:
        for node in function.nodes_of(_SPREADING):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        for at, (name, part) in enumerate(paired(target, value)):
                            self._set(name, self._item(part, at, target, function), function, node)
                        self._set_index(target, function)
                case (
                    ast.AnnAssign(target=target, value=value)
                    | ast.AugAssign(target=target, value=value)
                    | (ast.NamedExpr(target=target, value=value))
                ):
                    self._set(target, self.of(value, function), function, node)
                case (
                    ast.For(target=target, iter=over)
                    | ast.AsyncFor(target=target, iter=over)
                    | (ast.comprehension(target=target, iter=over))
                ):
                    found = self.of(over, function) or self._items(over, function)
                    if found is not None and found.why == ORDER:  # each turn has another item than on other ranks
                        found = Taint(ORDER, function.file, over.lineno, function.name, syntax=node)
                    elif found is not None and not (isinstance(over, ast.Call) and last_name(over.func) == "range"):
                        found = as_data(found)
                    numbered = isinstance(over, ast.Call) and last_name(over.func) == "enumerate"
                    items = target.elts[1:] if numbered and isinstance(target, ast.Tuple) else [target]
                    for item in items:
                        self._set(item, found, function, node)
                case ast.withitem(optional_vars=target, context_expr=value) if target is not None:
                    self._set(target, self.of(value, function), function, node)
                case ast.Return(value=value) if value is not None:
                    self._return(function, self.of(value, function), value)
                case ast.Yield(value=value) if value is not None:
                    self._return(function, self.of(value, function), value)
                case ast.If(test=test) | ast.While(test=test):
                    found = self.of(test, function)
                    if found is not None:
                        self._under(node, found, function)
                case ast.ExceptHandler():
                    taint = Taint(EXCEPTION, function.file, node.lineno, function.name, control=True, syntax=node)
                    self._under(node, taint, function)
                case ast.Call():
                    self._pass(node, function)

    def _item(self, value: ast.expr, at: int, target: ast.expr, function: Function) -> Found:
        """Returns the taint of what one name is given, also of an item: `rank, world_size = get_dist_info()`."""
        if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, ast.Call):
            return self.of(value, function)
        called, count = self.program.targets(value, function), len(target.elts)
        known = [self._known.returned(one) for one in called]
        items = [(one, returned_item(one, at, count)) for one in called]
        if not items or any(found is not None and found.control for found in known) or any(not n for _, n in items):
            return self.of(value, function)
        found = [self.of(item, one) for one, each in items for item in each]
        return max(filter(None, found), key=importance, default=None)

    def _items(self, over: ast.expr, function: Function) -> Found:
        """Returns the taint of what a loader gives."""
        name = last_name(over) if not isinstance(over, ast.Call) else last_name(over.args[0]) if over.args else ""
        if reads_data(name):
            return Taint(DATA, function.file, over.lineno, function.name, syntax=over)
        return None

    def _under(self, block: ast.AST, found: Taint, function: Function) -> None:
        """Marks what is set in a block that only some ranks enter."""
        control = here = Taint(found.why, function.file, getattr(block, "lineno", 1), function.name, True, block)
        if found.why != RANK and found.why != EXCEPTION:
            control = replace(found, control=True)  # where it comes in, which is not where it decides
        for node in statements_of(block, function):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    # Part of a tensor is other content, no other length; a name in a mapping is one item more.
                    changes = isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign)
                    changes = changes or isinstance(node.value, (ast.BinOp, ast.UnaryOp))
                    self._set(target, content(control) if changes else control, function, node)
                    if isinstance(target, ast.Subscript) and adds_key(target, block, function):
                        self._grow(target.value, here, function)
            elif isinstance(node, ast.Return) and not (node.value is None or is_none(node.value)):
                self._return(function, control, node.value)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Attribute) and _CHANGES.match(called.attr):
                    self._set(called.value, control, function, node)
                    self._grow(called.value, here, function)
                if found.why == RANK:
                    self._marks(node.value, control, function)

    def _marks(self, call: ast.Call, control: Taint, function: Function) -> None:
        """Marks the attributes that a function sets which only some ranks call: `self.ready = True` of rank 0."""
        for called in self.program.targets(call, function)[:2]:
            for node in called.nodes_of(ast.Assign):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                    for target in node.targets:
                        if isinstance(target, ast.Attribute):
                            self._set(target, control, called, node)

    def _pass(self, call: ast.Call, function: Function) -> None:
        """Spreads from arguments to parameters."""
        for key, value in self.program.given_fields(call, function):
            self._known.set_attribute(key, self.of(value, function))
        for target in self.program.targets(call, function):
            shift = 1 if target.owner is not None and target.parameters[:1] in (("self",), ("cls",)) else 0
            for at, argument in enumerate(call.args):
                self._name(target, parameter_at(at + shift, target), self.of(argument, function), AT_ENTRY)
            for keyword in call.keywords:
                if keyword.arg in target.parameters:
                    self._name(target, keyword.arg, self.of(keyword.value, function), AT_ENTRY)

    def _return(self, function: Function, found: Found, value: ast.AST | None) -> None:
        if found is not None:
            self._known.set_returned(function, found)

    def _set(self, target: ast.expr, found: Found, function: Function, statement: ast.AST) -> None:
        if found is None:
            return
        if isinstance(target, ast.Name):
            self._name(function, target.id, found, getattr(statement, "lineno", target.lineno))
        elif isinstance(target, ast.Attribute):
            self._known.set_attribute(self.program.attribute_key(target, function), found)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._set(item, found, function, statement)
        elif isinstance(target, (ast.Subscript, ast.Starred)) and not is_placement(target):
            self._set(target.value, found, function, statement)

    def _grow(self, target: ast.expr, control: Taint, function: Function) -> None:
        if isinstance(target, ast.Name):
            self._known.set_grown(function, target.id, control)

    def _set_index(self, target: ast.expr, function: Function) -> None:
        if isinstance(target, ast.Subscript):
            self._set(target.value, self.of(target.slice, function), function, target)

    def _name(self, function: Function, name: str, found: Found, line: int) -> None:
        if found is not None and name:
            self._known.set_name(function, name, called_loss(found, name), line)
