"""What functions of libraries and builtins mean to the values of a program. Pure."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from diagnostics.static.execution import configuration, library
from diagnostics.static.execution.objects import Objects
from diagnostics.static.execution.values import (
    UNKNOWN,
    Class,
    Const,
    Generator,
    Instance,
    Items,
    Made,
    Mapped,
    Name,
    OneOf,
    Partial,
    Procedure,
    Scope,
    Value,
    joined,
    options,
    truth,
)  # fmt: skip

_COLLECTING = frozenset(["list", "tuple", "sorted", "reversed", "set"])
_STARTED = frozenset(["Process", "Thread"])
_SUBMITTED = frozenset(["submit", "apply_async"])


class ForeignCalls(Objects):
    """Calls of what the project does not hold."""

    @abstractmethod
    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, scope: Scope) -> None:
        """Sets an attribute of a value."""

    @abstractmethod
    def leaves(
        self, name: str, owner: Value | None, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST,
        scope: Scope,
    ) -> Value:  # fmt: skip
        """Notes a call that leaves the project; returns what it gives."""

    @abstractmethod
    def forward(
        self, model: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value | None:
        """Runs `forward` of a model that was called; returns its result where it is known."""

    @abstractmethod
    def run_generator(self, made: Generator, each: Callable[[Value], None], node: ast.AST, scope: Scope) -> None:
        """Runs a generator; does something with each value it yields, where it yields it."""

    @abstractmethod
    def read_loader(self, loop: Value, node: ast.AST, scope: Scope) -> None:
        """Runs what the workers of a loader run."""

    def of_library(
        self, name: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value | None:
        """Returns what a library's function means here; None where it only happens."""
        last = name.rpartition(".")[2]
        if name in ("functools.partial", "partial") and args:
            return Partial(args[0], args[1:], keywords)
        if name == "getattr" and len(args) >= 2 and isinstance(args[1], Const):
            has = self._has(args[0], str(args[1].value), node, scope) if len(args) == 3 else UNKNOWN
            if isinstance(has, Const) and has.value is False:
                return args[2]
            return self.attribute(args[0], str(args[1].value), node, scope)
        if name == "setattr" and len(args) == 3 and isinstance(args[1], Const):
            self.set_attribute(args[0], str(args[1].value), args[2], node, scope)
            return Const(None)
        if name == "hasattr" and len(args) == 2 and isinstance(args[1], Const):
            return self._has(args[0], str(args[1].value), node, scope)
        if name == "isinstance" and len(args) == 2:
            return self._is_instance(args[0], args[1], node)
        if name == "map" and len(args) == 2:
            found: list[Value] = []
            whole = self.each(
                args[1], node, lambda one: found.append(self.call(args[0], (one,), {}, node, scope)), scope
            )
            return Items({"items": tuple(found)}, not whole)
        if name == "next" and args and isinstance(args[0], Generator):
            return self._first_of(args[0], node, scope)
        if name == "next" and args:
            items, _ = library.items_of(args[0], node)
            self.leaves("next", args[0], (), {}, node, scope)
            self.read_loader(args[0], node, scope)
            return items[0] if items else UNKNOWN
        if name in _COLLECTING and len(args) == 1 and isinstance(args[0], Generator):
            yielded: list[Value] = []
            self.each(args[0], node, yielded.append, scope)
            return Items({"items": tuple(yielded)}, open=True)
        if name in _COLLECTING and len(args) == 1 and isinstance(args[0], Items):
            return Items({"items": args[0].items}, args[0].open)
        if name == "dict" and not args and "**" not in keywords:
            return Mapped(dict(keywords))
        if name in ("list", "set", "collections.deque") and not args:
            return Items({"items": ()}, depth=self.state.memory.depth)
        if name in ("collections.defaultdict", "collections.OrderedDict") and len(args) <= 1 and not keywords:
            return Mapped({}, open=True)
        told = configuration.name_space(name, args, keywords) or configuration.as_dict(name, args)
        if told is not None:
            return told
        if name == "dataclasses.replace" and args and isinstance(args[0], Instance):
            return Instance(args[0].kind, node, scope.function, {**args[0].fields, **keywords})
        if name == "len" and len(args) == 1 and isinstance(args[0], Items) and not args[0].open:
            return Const(len(args[0].items))
        if name == "callable" and args and isinstance(args[0], (Procedure, Class, Partial)):
            return Const(True)
        if name in library.LAUNCHERS:
            self.leaves(name, None, args, keywords, node, scope)
            started = args[0] if args else keywords.get(library.LAUNCHERS[name], UNKNOWN)
            if isinstance(started, Class):
                return self._as_set(started, node, scope)
            if isinstance(started, (Procedure, Partial)):
                given = keywords.get("args", args[1] if len(args) > 1 else None)
                rest = given.items if isinstance(given, Items) else ()
                spawned = name.startswith("torch.multiprocessing")
                self.call(started, [Made("rank", node=node), *rest] if spawned else [], {}, node, scope)
            return UNKNOWN
        if last == "lru_cache" or name == "functools.cache":
            return args[0] if args and isinstance(args[0], Procedure) else None
        return None

    def _first_of(self, made: Generator, node: ast.AST, scope: Scope) -> Value:
        """Returns what a generator of the project yields: it is run where it is first asked."""
        if made.first is None:
            yielded: list[Value] = []
            made.first = UNKNOWN  # while it runs
            guards = self.state.guards
            self.run_generator(made, yielded.append, node, scope)
            self.state.guards = guards
            made.first = yielded[0] if yielded else UNKNOWN
        return made.first

    def _as_set(self, kind: Class, node: ast.AST, scope: Scope) -> Value:
        """Returns an object of a data class that is filled from the command line: its defaults may be set otherwise."""
        made = self.call(kind, (), {}, node, scope)
        if isinstance(made, Instance):
            for name, value in list(made.fields.items()):
                if isinstance(value, Const):
                    made.fields[name] = Made("argument", args=(Const(name),), keywords={"default": value}, node=node)
        return made

    def of_method(
        self, name: str, owner: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> None:
        """Does what a method of a library's object does to the values of the program: it starts what it was given."""
        if name in ("add_argument", "set_defaults"):
            parser = configuration.root_parser(owner)
            for option, default in configuration.options_added(name, args, keywords).items() if parser else ():
                self.state.memory.write(parser.fields, configuration.OPTION + option, default)  # type: ignore[union-attr]
            told = configuration.choices_added(args, keywords) if parser and name == "add_argument" else {}
            for option, allowed in told.items():
                self.state.memory.write(parser.fields, configuration.CHOICES + option, allowed)  # type: ignore[union-attr]
        elif name == "start" and isinstance(owner, Made) and owner.name.rpartition(".")[2] in _STARTED:
            given = owner.argument(4, "args")
            target = owner.argument(1, "target")
            self._elsewhere(owner, target, given.items if isinstance(given, Items) else (), node, scope)
        elif name in _SUBMITTED and args:
            self._elsewhere(owner, args[0], args[1:] if name == "submit" else (UNKNOWN,), node, scope)
        elif name.startswith("register_") and name.endswith("hook"):
            given = args[0] if args else keywords.get("hook")
            count = len(given.function.parameters) - given.function.implied if isinstance(given, Procedure) else 0
            asked = [Made("argument", node=node) for _ in range(count)]
            self._elsewhere(Made("hook", owner=owner, node=node), given, asked, node, scope)
        elif name == "enter_context" and args:
            self.state.contexts = (*self.state.contexts, args[0])

    def _elsewhere(
        self, where: Value, target: Value | None, args: Sequence[Value], node: ast.AST, scope: Scope
    ) -> None:
        """Runs a function of the project in a thread, a process or a hook: `where` is one of its contexts."""
        if not isinstance(target, (Procedure, Partial)):
            return
        contexts = self.state.contexts
        self.state.contexts = (*contexts, where)
        try:
            self.call(target, args, {}, node, scope)
        finally:
            self.state.contexts = contexts

    def _has(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        if isinstance(owner, Instance) and (name in owner.fields or self.of_object(owner, name, node, scope)):
            return Const(True)
        if isinstance(owner, Instance) and self._is_known_whole(owner, node, scope):
            return Const(name in library.OF_PLAIN_BASES)
        told = library.has(owner, name)
        return Const(told) if told is not None else Made("hasattr", args=(owner, Const(name)), node=node)

    def _is_known_whole(self, owner: Instance, node: ast.AST, scope: Scope) -> bool:
        """Whether an object has no attributes but those that the project gives it: it hands on none of another's."""
        handed_on = self.of_object(owner, "__getattr__", node, scope) is not None
        return not handed_on and library.PLAIN_BASES.issuperset(self.foreign_bases(owner.kind))

    def _is_instance(self, value: Value, kinds: Value, node: ast.AST) -> Value:
        wanted = kinds.items if isinstance(kinds, Items) else (kinds,)
        if (
            isinstance(value, Made)
            and value.name[:1].isalpha()
            and all(isinstance(one, (Name, Class)) for one in wanted)
        ):
            if any(isinstance(one, Name) and one.name == value.name for one in wanted):
                return Const(True)
            kinds_told = [one.name for one in wanted if isinstance(one, Name)]
            if value.name in library.WRAPPERS and library.WRAPPERS.issuperset(kinds_told):
                return Const(False)
        names = [one.name for one in wanted if isinstance(one, Name)]
        if isinstance(value, Instance) and len(names) == len(wanted) and library.WRAPPERS.issuperset(names):
            return Const(not set(names).isdisjoint(self.foreign_bases(value.kind)))
        if isinstance(value, Instance) and all(isinstance(one, Class) for one in wanted):
            return Const(any(one is kind for kind in self.lineage(value.kind) for one in wanted))
        return Made("isinstance", args=(value, kinds), node=node)

    def arm(self, node: ast.IfExp, test: Value, taken: bool, scope: Scope) -> Value:
        """Evaluates one arm of `net.module if isinstance(net, DDP) else net`, with `net` as what it may be there."""
        arm = node.body if taken else node.orelse
        asks = isinstance(test, Made) and test.name == "isinstance" and isinstance(test.args[0], OneOf)
        asked = node.test.args[0] if isinstance(node.test, ast.Call) and node.test.args else None
        if not asks or not isinstance(asked, ast.Name) or not isinstance(test, Made):
            return self.evaluate(arm, scope)
        fits = [one for one in options(test.args[0])
                if truth(self._is_instance(one, test.args[1], node.test)) in (None, taken)]  # fmt: skip
        outside = dict(scope.fields)
        scope.fields[asked.id] = joined(fits) if fits else test.args[0]
        try:
            return self.evaluate(arm, scope)
        finally:
            if asked.id in outside:
                scope.fields[asked.id] = outside[asked.id]
            else:
                del scope.fields[asked.id]
