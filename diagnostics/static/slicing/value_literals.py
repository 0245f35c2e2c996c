"""Python text that makes values like those recorded: constructor arguments, and what a module was called with. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from diagnostics.static.slicing.source_closure import Own

_PUBLIC = (
    (re.compile(r"^torch\.nn\.modules\.\w+:"), "torch.nn."),
    (re.compile(r"^torch\._C\._nn:"), "torch.nn.functional."),
    (re.compile(r"^(?:torch\._C|torch\._VF|torch\._tensor|)?:(?=[a-z])"), "torch."),
)
_BUILTIN = re.compile(r"^(?:builtins):")
MASK_VALUES = 4  # a floating mask has no more different numbers
MADE = """def made(kind, **attributes):
    one = kind.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(one, name, value)
    return one"""


class NumberFidelity(Enum):
    """How close the numbers of an input are to the recorded ones."""

    SIMPLE = "drawn"
    MASKS = "drawn, but for whole numbers and masks, which are the recorded ones"
    ALIKE = "drawn with the recorded mean and deviation"
    EQUAL = "the recorded ones, as far as they are few"


class NotTextError(Exception):
    """A value that no text can make again; the argument says what it is."""


@dataclass(slots=True)
class Literals:
    """Writes values. `called(own)` gives the name of a thing of the project, `construction(name)` an expression.

    `imports` and `needs_made` tell what the texts written so far rely on.
    """

    at_hand: Callable[[str], Own | None]  # "package.module:Name" -> where its source is; None where it is not
    called: Callable[[Own], str]
    construction: Callable[[str], str]
    with_keywords: Callable[[Own], bool]  # a dataclass, whose constructor takes its attributes
    imports: set[str] = field(default_factory=set)
    needs_made: bool = False
    _numbers: NumberFidelity = NumberFidelity.SIMPLE
    _seen: int = 0  # tensors of the call so far
    _shared: set[int] = field(default_factory=set)  # those that are given a second time

    def argument(self, value: Any) -> str:
        """Returns an expression for a constructor's argument. Raises NotTextError."""
        match value:
            case None | bool() | int() | float() | str():
                return repr(value)
            case list():
                return f"[{', '.join(map(self.argument, value))}]"
            case {"tuple": list(items), **rest} if not rest:
                return _tuple([self.argument(one) for one in items])
            case {"module": str(name), **rest} if not rest:
                if not name:
                    raise NotTextError("a module that was copied or built elsewhere")
                return self.construction(name)
            case {"name": str(name), **rest} if not rest:
                return self.name(name)
            case {"dtype": str(dtype), **rest} if not rest:
                return f"torch.{dtype}"
            case {"tensor": list(shape), "dtype": str(dtype), **rest} if not rest:
                return _plain_tensor(shape, dtype)
            case {"enum": str(name), **rest} if not rest:
                return self.name(name)
            case {"partial": called, "arguments": dict(given), **rest} if not rest:
                return self._partial(called, given)
            case {"object": str(name), "attributes": dict(attributes), **rest} if not rest:
                return self._object(name, {key: self.argument(one) for key, one in attributes.items()})
            case {"repr": str(text), **rest} if not rest:
                if re.fullmatch(r"float\('(?:nan|-?inf)'\)", text):
                    return text
                if re.fullmatch(r"(?:torch\.)?device\(type='\w+'(?:, index=\d+)?\)", text):
                    return text if text.startswith("torch.") else f"torch.{text}"
                raise NotTextError(text[:80])
            case dict():
                return _dict({key: self.argument(one) for key, one in value.items()})
        raise NotTextError(repr(value)[:80])

    def name(self, name: str) -> str:
        """Returns an expression for "package.module:Name.inner"."""
        if "<" in name:
            raise NotTextError(f"{name}, which is made within a function")
        for pattern, public in _PUBLIC:
            if pattern.match(name):
                return public + pattern.sub("", name)
        if _BUILTIN.match(name):
            return _BUILTIN.sub("", name)
        module, _, qualified = name.partition(":")
        own = self.at_hand(name)
        if own is not None:
            _, _, inner = qualified.partition(".")
            return self.called(own) + (f".{inner}" if inner else "")
        if not module:
            raise NotTextError(qualified)
        self.imports.add(f"import {module}")
        return f"{module}.{qualified}"

    def call(
        self, args: Mapping[str, Any], kwargs: Mapping[str, Any], numbers: NumberFidelity = NumberFidelity.SIMPLE
    ) -> str:
        """Returns the arguments of a call as they are written between its brackets. Raises NotTextError."""
        self._numbers, self._seen = numbers, 0
        self._shared = {told["input"] for told in _tensors([args, kwargs]) if "input" in told}
        given = [self.value(one) for one in args.get("items", ())]
        names = kwargs.get("names", ())
        given += [f"{name}={self.value(one)}" for name, one in zip(names, kwargs.get("items", ()), strict=False)]
        self._shared = set()
        return ", ".join(given)

    def value(self, structure: Mapping[str, Any]) -> str:
        """Returns an expression for a value like the recorded one. Raises NotTextError."""
        match structure["kind"]:
            case "tensor":
                return self._tensor(structure)
            case "value":
                return self.argument(_finite(structure["value"]))
            case "tuple" | "list" as kind:
                items = [self.value(one) for one in structure["items"]]
                return _tuple(items) if kind == "tuple" else f"[{', '.join(items)}]"
            case "namedtuple":
                return f"{self.name(structure['class'])}({', '.join(self.value(one) for one in structure['items'])})"
            case "dict" | "object" as kind:
                items = [self.value(one) for one in structure["items"]]
                named = dict(zip(structure["names"], items, strict=True))
                if kind == "dict":
                    return _dict(named)
                return self._object(structure["class"], named)
        raise NotTextError(str(structure.get("class", "a value")))

    def _tensor(self, told: Mapping[str, Any]) -> str:
        number, self._seen = self._seen, self._seen + 1
        if "plus" in told:
            return f"{tensor_text(told, NumberFidelity.ALIKE)} + {told['plus']}"
        if "input" in told and self._shared:
            return f"x{told['input']}"
        text = tensor_text(told, self._numbers)
        return f"(x{number} := {text})" if number in self._shared else text

    def _object(self, name: str, attributes: Mapping[str, str]) -> str:
        given = ", ".join(f"{key}={text}" for key, text in attributes.items())
        if not all(key.isidentifier() for key in attributes):
            raise NotTextError(name)
        kind = self.name(name)
        own = self.at_hand(name)
        if kind in ("types.SimpleNamespace", "argparse.Namespace") or (own is not None and self.with_keywords(own)):
            return f"{kind}({given})"
        self.needs_made = True
        return f"made({kind}, {given})"

    def _partial(self, called: Any, given: Mapping[str, Any]) -> str:
        self.imports.add("import functools")
        args = [self.argument(one) for one in given.get("args", ())]
        args += [f"{key}={self.argument(one)}" for key, one in given.items() if key != "args"]
        return f"functools.partial({', '.join([self.argument(called), *args])})"


def tensor_text(told: Mapping[str, Any], numbers: NumberFidelity = NumberFidelity.SIMPLE) -> str:
    """Returns an expression for a tensor of the recorded shape and dtype, with numbers as close as is asked for."""
    shape, dtype = _tuple(map(str, told["shape"])), str(told["dtype"])
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    grad = ", requires_grad=True" if told.get("grad") else ""
    if told.get("values") is not None and (numbers is NumberFidelity.EQUAL or _is_mask(told, numbers)):
        listed = f"torch.tensor({_listed(told['values'])}{kind if dtype not in ('int64', 'bool') else ''}{grad})"
        shaped = listed if len(told["shape"]) < 2 and told["shape"] != [0] else f"{listed}.reshape({shape})"
    elif dtype == "bool" or dtype.startswith(("int", "uint")):
        return _whole_numbers(told, shape, dtype)
    elif told.get("nan"):
        shaped = f"torch.full({shape}, float('nan'){kind}{grad})"
    elif told.get("std") == 0:
        shaped = f"torch.full({shape}, {_short(told['mean'])}{kind}{grad})"
    else:
        shaped = _drawn(told, kind + grad, numbers)
    return f"{shaped} * 1" if grad and " * " not in shaped else shaped  # no leaf: as within a model


def _is_mask(told: Mapping[str, Any], numbers: NumberFidelity) -> bool:
    few = len(set(map(str, told["values"]))) <= MASK_VALUES
    return numbers is not NumberFidelity.SIMPLE and (not told["dtype"].startswith(("float", "bfloat")) or few)


def _whole_numbers(told: Mapping[str, Any], shape: str, dtype: str) -> str:
    low, high = told.get("low"), told.get("high")
    if dtype == "bool":
        return f"torch.full({shape}, {bool(low)})" if low is not None and low == high else f"torch.rand({shape}) < 0.5"
    kind = "" if dtype == "int64" else f", dtype=torch.{dtype}"
    return f"torch.randint({int(low or 0)}, {int(high or 0) + 1}, {shape}{kind})"


def _drawn(told: Mapping[str, Any], given: str, numbers: NumberFidelity) -> str:
    sizes = ", ".join(map(str, told["shape"])) or "()"
    mean, std, low, high = (told.get(name) for name in ("mean", "std", "low", "high"))
    if mean is None or std is None or low is None or high is None:
        return f"torch.randn({sizes}{given})"
    if low >= 0 and std > 0:
        return f"torch.rand({sizes}{given})" + (f" * {_short(high)}" if not 0.3 < high < 3 else "")
    usual = abs(mean) < std and 0.01 < std < 100
    if usual if numbers is NumberFidelity.SIMPLE else (abs(mean) < 0.05 and 0.9 < std < 1.1):
        return f"torch.randn({sizes}{given})"
    return f"torch.randn({sizes}{given}) * {_short(std)} + {_short(mean)}"


def _tensors(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the recorded tensors, in the order in which they are numbered."""
    for one in value:
        if one.get("kind") == "tensor":
            yield one
        yield from _tensors(one.get("items", ()))


def _listed(values: Sequence[Any]) -> str:
    words = [f"float('{one}')" if isinstance(one, str) else repr(one) for one in values]
    return f"[{', '.join(words)}]"


def _plain_tensor(shape: Sequence[int], dtype: str) -> str:
    return tensor_text({"shape": list(shape), "dtype": dtype, "high": 1})


def _finite(value: Any) -> Any:
    return {"repr": f"float('{value}')"} if isinstance(value, float) and not math.isfinite(value) else value


def _short(number: float) -> str:
    return f"{number:.3g}"


def _tuple(items: Any) -> str:
    words = list(items)
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _dict(items: Mapping[Any, str]) -> str:
    return "{" + ", ".join(f"{key!r}: {text}" for key, text in items.items()) + "}"
