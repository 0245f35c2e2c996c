"""Classes, their objects, files and functions as values. Pure."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

from diagnostics.static.execution.state import RunState
from diagnostics.static.execution.values import (
    Class,
    Const,
    ImportedFile,
    Instance,
    Made,
    Name,
    Partial,
    Procedure,
    Scope,
    Super,
    Value,
)  # fmt: skip

_MOST_BASES = 12
SETTER = "setter of "
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Objects(ABC):
    """What is known of objects; the abstract ones are told by those who inherit."""

    def __init__(self, state: RunState) -> None:
        self.state = state

    @abstractmethod
    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Returns the value of an expression."""

    @abstractmethod
    def call(
        self, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST, scope: Scope
    ) -> Value:
        """Returns what a call gives."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Sets what a target names."""

    @abstractmethod
    def attribute(self, owner: Value, name: str, node: ast.AST, scope: Scope) -> Value:
        """Returns an attribute of a value."""

    @abstractmethod
    def each(self, value: Value, node: ast.AST, body: Callable[[Value], None], scope: Scope) -> bool:
        """Does something with each item of a value; returns whether all items are known."""

    @abstractmethod
    def either(self, node: ast.AST, test: Value, ways: Sequence[Callable[[], object]], scope: Scope) -> None:
        """Goes both ways of a test that nothing decides."""

    @abstractmethod
    def run_file(self, file: str) -> Scope:
        """Runs the top level of a file of the project, once."""

    # ------------------------------------------------------------------ names

    def global_name(self, name: str, scope: Scope) -> Value:
        """Returns what a name means that no scope holds: what its file imports, or a builtin."""
        project = self.state.project
        function = scope.function
        file, original = project.imported(name, function.file)
        if file:
            last = original.rpartition(".")[2]
            found = self.run_file(file).fields.get(last) if file != function.file else None
            return found if found is not None else ImportedFile(file)
        bound = project.bound(function.file)
        if name in bound:
            return Name(project.expanded(bound[name]))
        return Name("torch.distributed" if name == "dist" else name)

    def of_module(self, module: ImportedFile, name: str, scope: Scope) -> Value:
        """Returns what a file of the project holds under a name."""
        inside = self.run_file(module.file)
        found = inside.fields.get(name)
        return found if found is not None else self.global_name(name, inside)

    # ------------------------------------------------------------------ functions

    def function_value(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, *, sees: Scope | None = None
    ) -> Value:
        """Returns a function of the project, decorated; `sees`: the scope around it, of a method that of its class."""
        function = self.state.project.by_syntax.get(id(node))
        if function is None:
            return Name("")
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = {
            one.arg: self.evaluate(value, scope)
            for one, value in zip(named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True)
        }
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if value is not None:
                defaults[one.arg] = self.evaluate(value, scope)
        made: Value = Procedure(function, sees or scope, defaults=defaults)
        for decorator in reversed(getattr(node, "decorator_list", [])):
            made = self._decorated(made, decorator, scope)
        return made

    def _decorated(self, made: Value, decorator: ast.expr, scope: Scope) -> Value:
        by = self.evaluate(decorator, scope)
        name = by.name if isinstance(by, (Name, Made)) else ""
        if isinstance(by, (Name, Made)):  # of a library: it gives back what does the same, marked
            if isinstance(made, Procedure):
                kept = {"defaults": made.defaults, "marks": made.marks | {name}, "fields": made.fields}
                return Procedure(made.function, made.scope, made.receiver, **kept)  # type: ignore[arg-type]
            return made
        return self.call(by, (made,), {}, decorator, scope)

    # ------------------------------------------------------------------ classes

    def class_value(self, node: ast.ClassDef, scope: Scope) -> Class:
        """Returns a class of the project; its body has run."""
        module = self.state.project.module_of_class(node) or scope.function
        made = Class(node, module, scope, bases=[self.evaluate(one, scope) for one in node.bases])
        inside = Scope(made.fields, scope, scope.function)
        for statement in node.body:
            if isinstance(statement, _FUNCTIONS):
                function = self.function_value(statement, inside, sees=scope)
                is_setter = isinstance(function, Procedure) and any(one.endswith(".setter") for one in function.marks)
                made.fields[SETTER + statement.name if is_setter else statement.name] = function
            elif isinstance(statement, ast.Assign):
                value = self.evaluate(statement.value, inside)
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        made.fields[target.id] = value
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
                made.fields[statement.target.id] = self.evaluate(statement.value, inside)
            elif isinstance(statement, ast.ClassDef):
                made.fields[statement.name] = self.class_value(statement, inside)
        for decorator in reversed(node.decorator_list):
            by = self.evaluate(decorator, scope)
            if isinstance(by, (Procedure, Partial)):  # of the project: it may note the class in a table
                self.call(by, (made,), {}, decorator, scope)
        return made

    def setter(self, owner: Instance, name: str) -> Procedure | None:
        """Returns what setting a property does."""
        for kind in self.lineage(owner.kind):
            found = kind.fields.get(SETTER + name)
            if isinstance(found, Procedure):
                return Procedure(found.function, found.scope, owner, found.defaults, found.fields, found.marks)
        return None

    def lineage(self, kind: Class) -> Iterator[Class]:
        """Yields a class and the project's classes it inherits from, nearest first."""
        waiting, seen = [kind], set[int]()
        while waiting and len(seen) < _MOST_BASES:
            one = waiting.pop(0)
            if id(one) not in seen:
                seen.add(id(one))
                yield one
                waiting += [base for base in one.bases if isinstance(base, Class)]

    def foreign_bases(self, kind: Class) -> set[str]:
        """Returns the full names of the libraries' classes that a class inherits from."""
        return {base.name for one in self.lineage(kind) for base in one.bases if isinstance(base, Name)}

    def is_model(self, value: Value) -> bool:
        """Whether an object is a torch.nn.Module of the project's."""
        return isinstance(value, Instance) and any(
            name.rpartition(".")[2].endswith("Module") or name.startswith(("torch.nn.", "transformers."))
            for name in self.foreign_bases(value.kind)
        )

    def fields_of(self, kind: Class) -> list[tuple[str, ast.expr | None]]:
        """Returns the fields of a data class or named tuple with their defaults, in the order of its arguments."""
        data = any(_is_data(one) for one in kind.kind.decorator_list)
        named = any(isinstance(base, Name) and base.name.endswith(("NamedTuple", "BaseModel")) for base in kind.bases)
        if not data and not named:
            return []
        found: dict[str, ast.expr | None] = {}
        for one in reversed(list(self.lineage(kind))):
            for node in one.kind.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found[node.target.id] = node.value
        return list(found.items())

    def of_object(self, owner: Instance | Class | Super, name: str, node: ast.AST, scope: Scope) -> Value | None:
        """Returns an attribute of an object or class; None where its class is not known to have it."""
        if isinstance(owner, Instance) and name in owner.fields:
            return owner.fields[name]
        if isinstance(owner, Instance) and name == "__class__":
            return owner.kind
        receiver = owner.receiver if isinstance(owner, Super) else owner
        kinds = list(self.lineage(owner if isinstance(owner, Class) else owner.kind))
        for kind in kinds[1:] if isinstance(owner, Super) else kinds:
            if name in kind.fields:
                return self._bound(kind.fields[name], receiver, kind, node, scope)
        return Const(None) if isinstance(owner, Super) and name == "__init__" else None

    def _bound(self, found: Value, receiver: Value, kind: Class, node: ast.AST, scope: Scope) -> Value:
        if not isinstance(found, Procedure) or found.receiver is not None:
            return found
        if "staticmethod" in found.marks:
            return found
        if "classmethod" in found.marks:
            return Procedure(found.function, found.scope, kind, found.defaults, found.fields, found.marks)
        if isinstance(receiver, Class):
            return found
        bound = Procedure(found.function, found.scope, receiver, found.defaults, found.fields, found.marks)
        if any(mark.endswith("property") for mark in found.marks):
            return self.call(bound, (), {}, node, scope)
        return bound


def _is_data(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    last = named.attr if isinstance(named, ast.Attribute) else named.id if isinstance(named, ast.Name) else ""
    return last in ("dataclass", "define", "frozen")
