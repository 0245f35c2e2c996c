"""What a name may hold while a program is run on values that are not known. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.static.program.functions import Function

MOST_CHOICES = 4
MOST_SEEN = 400


NO_KEYWORDS: Mapping[str, Value] = {}  # one for all values and events that have none; nobody writes to keywords


class Value:
    """Anything. Values are compared by identity; `same` compares what they were made of."""

    __slots__ = ()


class Unknown(Value):
    """Nothing is known of it."""

    __slots__ = ()


UNKNOWN = Unknown()


@dataclass(eq=False, slots=True)
class Const(Value):
    """A number, text, truth or None that stands in the program."""

    value: Any


@dataclass(eq=False, slots=True)
class Name(Value):
    """What is imported from elsewhere, by its full name: "torch.distributed.barrier"."""

    name: str


@dataclass(eq=False, slots=True)
class Made(Value):
    """What a call outside the project gave, an attribute of it, an item or a computation.

    `name` is the full name of what was called; ".name" of a method or attribute of `owner`, "[]" an item, "item" what
    a loop over `owner` gets, "()" of an object that was called, and an operator of what was computed from `args`.
    """

    name: str
    owner: Value | None = None
    args: Sequence[Value] = ()
    keywords: Mapping[str, Value] = field(default_factory=lambda: NO_KEYWORDS)
    node: ast.AST | None = None
    function: Function | None = None
    fields: dict[str, Value] = field(default_factory=dict)

    def argument(self, position: int, name: str) -> Value | None:
        """Returns what was given at a position or by a name."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[position] if position < len(self.args) else None


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the project."""

    kind: ast.ClassDef
    module: Function
    scope: Scope
    fields: dict[str, Value] = field(default_factory=dict)
    bases: Sequence[Value] = ()


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a class of the project."""

    kind: Class
    node: ast.AST | None = None
    function: Function | None = None  # that made it
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Procedure(Value):
    """A function of the project, with what it sees; bound to its object where it is a method."""

    function: Function
    scope: Scope
    receiver: Value | None = None
    defaults: Mapping[str, Value] = field(default_factory=dict)
    fields: dict[str, Value] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()  # of its decorators: "property", "contextmanager", "no_grad", ...


@dataclass(eq=False, slots=True)
class Partial(Value):
    """A function with some of its arguments."""

    callee: Value
    args: Sequence[Value]
    keywords: Mapping[str, Value]


@dataclass(eq=False, slots=True)
class Items(Value):
    """A list or tuple; `fields["items"]` are known to be in it, `open` says that there may be more."""

    fields: dict[str, Any]
    open: bool = False
    depth: int = -1  # how many loops were open where it was made, -1: it is none that grows

    @property
    def items(self) -> tuple[Value, ...]:
        """What is in it, in order."""
        found: tuple[Value, ...] = self.fields["items"]
        return found


@dataclass(eq=False, slots=True)
class Mapped(Value):
    """A dict by keys that are known; `open` says that there may be more."""

    fields: dict[Any, Value]
    open: bool = False
    depth: int = -1
    kind: str = ""  # "namespace": its keys are attributes


ANY_KEY = "any key"  # in a dict, for what was set under keys that are not known


@dataclass(eq=False, slots=True)
class Generator(Value):
    """A generator of the project; `first` is what `next` gets of it, once it was asked."""

    callee: Procedure
    scope: Scope
    first: Value | None = None


@dataclass(eq=False, slots=True)
class OneOf(Value):
    """One of several. `tests` decided between them: a value depends on what they were computed from.

    `conditions`, where they are known: under which of these tests, true or false, it is which of the options.
    """

    options: tuple[Value, ...]
    tests: tuple[Value, ...] = ()
    conditions: tuple[tuple[tuple[Value, bool, ast.AST], ...], ...] = ()


@dataclass(eq=False, slots=True)
class ImportedFile(Value):
    """A file of the project."""

    file: str


@dataclass(eq=False, slots=True)
class Scope:
    """Names of a function that runs, or of a file."""

    fields: dict[str, Value]
    outer: Scope | None
    function: Function


def joined(values: Sequence[Value], tests: Sequence[Value] = ()) -> Value:
    """Returns what is one of several values."""
    flat: list[Value] = []
    told = list(tests)
    for one in values:
        if isinstance(one, OneOf):
            flat += one.options
            told += one.tests
        else:
            flat.append(one)
    different: list[Value] = []
    for one in flat:
        if not any(same(one, other) for other in different):
            different.append(one)
    if len(different) > 1:  # what an earlier round left is one of the values that the rounds give
        different = [one for one in different if not is_carried(one)] or different
    if len(different) == 1:
        return different[0]
    return OneOf(tuple(different), tuple(told[:MOST_CHOICES])) if len(different) <= MOST_CHOICES else UNKNOWN


def chosen(values: Sequence[Value], conditions: Sequence[tuple[tuple[Value, bool, ast.AST], ...]]) -> Value:
    """Returns what is one of several values, each under its conditions."""
    made = joined(values, [test for each in conditions for test, _, _ in each])
    if not isinstance(made, OneOf):
        return made
    flat: list[tuple[Value, tuple[tuple[Value, bool, ast.AST], ...]]] = []
    for one, under in zip(values, conditions, strict=True):
        if not isinstance(one, OneOf):
            flat.append((one, tuple(under)))
        elif one.conditions:  # it was chosen itself, under conditions of its own
            flat += [(each, (*under, *more)) for each, more in zip(one.options, one.conditions, strict=True)]
        else:
            return made
    if made.options == tuple(one for one, _ in flat):
        made.conditions = tuple(under for _, under in flat)
    return made


def same(one: Value | None, other: Value | None, depth: int = 12) -> bool:
    """Whether two values are surely the same: one object, or computed in the same way from the same."""
    if one is other:
        return one is not UNKNOWN
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, Made) and isinstance(other, Made):
        if not depth or one.name != other.name:
            return False
        return (
            one.name != "item"
            and _repeatable(one)
            and (one.owner is other.owner or same(one.owner, other.owner, depth - 1))
            and len(one.args) == len(other.args)
            and one.keywords.keys() == other.keywords.keys()
            and all(same(a, b, depth - 1) for a, b in zip(one.args, other.args, strict=True))
            and all(same(value, other.keywords[key], depth - 1) for key, value in one.keywords.items())
        )
    if isinstance(one, Const) and isinstance(other, Const):
        return type(one.value) is type(other.value) and bool(one.value == other.value)
    return isinstance(one, Name) and isinstance(other, Name) and one.name == other.name


# Calls that give the same each time: the counter of a loop within a round, where a process is, what is computed.
_SAME_EVERYWHERE = frozenset(
    ["counter", "torch.distributed.get_rank", "torch.distributed.get_world_size", "os.environ.get", "os.getenv", "int",
     "float", "bool", "str", "len", "not", "and", "or", "pathlib.Path", "os.path.join", "os.fspath", "os.path.abspath",
     "f", "isinstance", "f-string"]
)  # fmt: skip


def _repeatable(made: Made) -> bool:
    """Whether what is asked twice is the same: attributes, items and arithmetic are; calls of constructors are not."""
    if made.name in _SAME_EVERYWHERE:
        return True
    attribute = made.name.startswith(".") and isinstance(made.node, (ast.Attribute, ast.Subscript))
    return attribute or made.name == "[]" or (not made.name[:1].isalpha() and not made.name.startswith(("(", ".")))


def made_of(value: Value) -> Sequence[Value | None]:
    """Returns what a value was computed from, or what is in it."""
    if isinstance(value, Made):
        carried = [value.fields.get("after")] if value.name == "carried" else ()
        return [value.owner, *value.args, *value.keywords.values(), *carried]
    if isinstance(value, OneOf):
        return [*value.options, *value.tests]
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Mapped):
        return [each for each in value.fields.values() if isinstance(each, Value)]
    return ()


def sources(value: Value | None) -> Iterator[Value]:
    """Yields a value and everything it was computed from, each once; containers with what is in them."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += made_of(one)


def options(value: Value | None) -> tuple[Value, ...]:
    """Returns what a value may be."""
    if is_carried(value) and isinstance(value, Made):
        after = value.fields.get("after")
        return after.options if isinstance(after, OneOf) else () if after is None else (after,)
    return value.options if isinstance(value, OneOf) else () if value is None else (value,)


def is_carried(value: Value | None) -> bool:
    """Whether a value is what an earlier round of a loop may have left: `fields["after"]`, in the first `args[0]`."""
    return isinstance(value, Made) and value.name == "carried"


def key_value(key: Any) -> Value:
    """Returns a key of a dict as a value."""
    return UNKNOWN if key == ANY_KEY else Const(key)


def is_flag(value: Value) -> bool:
    """Whether a value is None, True or False: what says that something has not been yet, or has."""
    return isinstance(value, Const) and (value.value is None or isinstance(value.value, bool))


def usual(value: Value | None) -> Value | None:
    """Returns what a value is where nobody sets it: the default of an option of the command line, of a variable."""
    for _ in range(6):
        if not isinstance(value, Made):
            return value
        if "default" in value.keywords:
            value = value.keywords["default"]
        elif value.name in ("int", "float", "bool", "str") and len(value.args) == 1:
            value = value.args[0]
            if isinstance(inner := usual(value), Const) and isinstance(inner.value, str) and inner.value.isdigit():
                return Const(int(inner.value))
        elif value.name in ("os.environ.get", "os.getenv") and len(value.args) == 2:
            value = value.args[1]
        else:
            return value
    return value


def truth(value: Value) -> bool | None:
    """Returns whether a value is true, None where it is not known."""
    if isinstance(value, Made):
        return None
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (Procedure, Class, Instance, ImportedFile, Partial, Generator, Name)):
        return True
    if isinstance(value, Items):  # an open one may be empty: a loop may not go round, a filter let nothing through
        return None if value.open else bool(value.items)
    if isinstance(value, Mapped):
        return True if value.fields else None if value.open else False
    if isinstance(value, OneOf):
        told = {truth(one) for one in value.options}
        return told.pop() if len(told) == 1 else None
    return None


@dataclass(eq=False, slots=True)
class Super(Value):
    """`super()` in a method of `kind`, called on `receiver`."""

    kind: Class
    receiver: Value
