"""Python text that makes values like those recorded: constructor arguments, and what a module was called with. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.analysis.source_closure import Own

_PUBLIC = (
    (re.compile(r"^torch\.nn\.modules\.\w+:"), "torch.nn."),
    (re.compile(r"^torch\._C\._nn:"), "torch.nn.functional."),
    (re.compile(r"^(?:torch\._C|torch\._VF|torch\._tensor|)?:(?=[a-z])"), "torch."),
)
_BUILTIN = re.compile(r"^(?:builtins):")
MADE = """def made(kind, **attributes):
    one = kind.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(one, name, value)
    return one"""


class NotTextError(Exception):
    """A value that no text can make again; the argument says what it is."""


@dataclass(slots=True)
class Texts:
    """Writes values. `called(own)` gives the name of a thing of the project, `construction(name)` an expression.

    `imports` and `needs_made` tell what the texts written so far rely on.
    """

    at_hand: Callable[[str], Own | None]  # "package.module:Name" -> where its source is; None where it is not
    called: Callable[[Own], str]
    construction: Callable[[str], str]
    with_keywords: Callable[[Own], bool]  # a dataclass, whose constructor takes its attributes
    imports: set[str] = field(default_factory=set)
    needs_made: bool = False

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

    def call(self, args: Mapping[str, Any], kwargs: Mapping[str, Any]) -> str:
        """Returns the arguments of a call as they are written between its brackets. Raises NotTextError."""
        given = [self.value(one) for one in args.get("items", ())]
        names = kwargs.get("names", ())
        given += [f"{name}={self.value(one)}" for name, one in zip(names, kwargs.get("items", ()), strict=False)]
        return ", ".join(given)

    def value(self, structure: Mapping[str, Any]) -> str:
        """Returns an expression for a value like the recorded one. Raises NotTextError."""
        match structure["kind"]:
            case "tensor":
                return tensor_text(structure) + (f" + {structure['plus']}" if "plus" in structure else "")
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


def tensor_text(told: Mapping[str, Any]) -> str:
    """Returns an expression for a tensor of the recorded shape, dtype and range."""
    shape, dtype = list(told["shape"]), str(told["dtype"])
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    sizes = ", ".join(map(str, shape)) if shape else "()"
    if dtype == "bool":
        low, high = told.get("low"), told.get("high")
        if low == high and low is not None:
            return f"torch.full({_tuple(map(str, shape))}, {bool(low)})"
        return f"torch.rand({sizes}) < 0.5"
    if dtype.startswith(("int", "uint")):
        low, high = int(told.get("low") or 0), int(told.get("high") or 0)
        dtype_word = "" if dtype == "int64" else kind
        return f"torch.randint({low}, {high + 1}, {_tuple(map(str, shape))}{dtype_word})"
    grad = bool(told.get("grad"))
    if told.get("nan"):
        return f"torch.full({_tuple(map(str, shape))}, float('nan'){kind})"
    mean, std = told.get("mean"), told.get("std")
    if mean is not None and std is not None and std == 0:
        return f"torch.full({_tuple(map(str, shape))}, {_short(mean)}{kind})"
    drawn = f"torch.randn({sizes}{kind}{', requires_grad=True' if grad else ''})"
    if mean is not None and std is not None and told.get("low") is not None:
        if told["low"] >= 0 and told["high"] <= 1 and not grad:
            return f"torch.rand({sizes}{kind})"
        if not (0.3 < std < 3 and abs(mean) < 1):
            return f"{drawn} * {_short(std)} + {_short(mean)}"
    return f"{drawn} * 1" if grad else drawn  # what a module is given within a model is no leaf


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
