"""Settings: options of the command line with their defaults, name spaces, objects as dicts. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnostics.static.execution.values import Const, Instance, Made, Mapped, Value

# What makes an object of whose attributes are the keys of a dict, or keywords.
_SPACES = frozenset(
    ["SimpleNamespace", "Namespace", "EasyDict", "edict", "Box", "Munch", "AttrDict", "DotMap", "DictConfig",
     "ConfigDict", "FrozenConfigDict"]
)  # fmt: skip
_OF_DICT = frozenset(["omegaconf.OmegaConf.create", "omegaconf.OmegaConf.structured"])
_AS_DICT = frozenset(
    ["vars", "dataclasses.asdict", "omegaconf.OmegaConf.to_container", "attr.asdict", "attrs.asdict", "dict"]
)  # fmt: skip
_PARSED = (".parse_args", ".parse_known_args", ".parse_intermixed_args")
_SWITCHES = {"store_true": False, "store_false": True}
_ATTRIBUTE = ast.Attribute(value=ast.Name(id="args"), attr="")
OPTION = "option "  # before the name of an option, in the fields of a parser
CHOICES = "choices of "  # before the name of one that may be one of some values only


def name_space(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Mapped | None:
    """Returns the object that SimpleNamespace, Namespace, DictConfig and the like make."""
    if name not in _OF_DICT and name.rpartition(".")[2] not in _SPACES:
        return None
    given = args[0] if args else None
    if isinstance(given, Mapped) or (given is None and keywords):
        inner = given.fields if isinstance(given, Mapped) else {}
        is_open = "**" in keywords or (isinstance(given, Mapped) and given.open)
        named = {key: one for key, one in keywords.items() if key != "**"}
        return Mapped({**inner, **named}, is_open, kind="namespace")
    return None


def as_dict(name: str, args: Sequence[Value]) -> Mapped | None:
    """Returns the dict that `vars(args)`, `asdict(config)` and the like give."""
    if name not in _AS_DICT or len(args) != 1:
        return None
    given = args[0]
    if isinstance(given, Mapped):
        return Mapped(dict(given.fields), given.open)
    if isinstance(given, Instance):
        return Mapped(dict(given.fields))
    parser = parser_of(given)
    if parser is None:
        return None
    names = [key.removeprefix(OPTION) for key in parser.fields if key.startswith(OPTION)]
    return Mapped({one: option(given, one, _ATTRIBUTE) for one in names}, open=True)  # type: ignore[misc] # each is one of it


def parser_of(value: Value | None) -> Made | None:
    """Returns the parser whose options a value holds: `parser.parse_args()`, `parse_known_args()[0]`."""
    if isinstance(value, Made) and value.name == "[]":
        value = value.owner
    if isinstance(value, Made) and value.name in _PARSED:
        return root_parser(value.owner)
    return None


def root_parser(value: Value | None) -> Made | None:
    """Returns the parser that a group of options belongs to."""
    while isinstance(value, Made) and value.name in (".add_argument_group", ".add_mutually_exclusive_group"):
        value = value.owner
    return value if isinstance(value, Made) else None


def option(owner: Value, name: str, node: ast.AST) -> Made | None:
    """Returns the value of an option of the command line, with its default."""
    parser = parser_of(owner)
    default = parser.fields.get(OPTION + name) if parser is not None else None
    if default is None:
        return None
    return Made(f".{name}", owner=owner, keywords={"default": default}, node=node)


def options_added(method: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Mapping[str, Value]:
    """Returns the options that `add_argument` or `set_defaults` adds, with their defaults."""
    if method == "set_defaults":
        return keywords
    flags = [one.value for one in args if isinstance(one, Const) and isinstance(one.value, str)]
    long = next((one for one in flags if one.startswith("--")), flags[0] if flags else "")
    dest = keywords.get("dest")
    name = dest.value if isinstance(dest, Const) else long.lstrip("-").replace("-", "_")
    action = keywords.get("action")
    switched = _SWITCHES.get(action.value) if isinstance(action, Const) and isinstance(action.value, str) else None
    default = keywords.get("default", Const(switched) if switched is not None else None)
    return {str(name): default} if name and default is not None else {}


def choices_added(args: Sequence[Value], keywords: Mapping[str, Value]) -> Mapping[str, Value]:
    """Returns what the option that `add_argument` adds may be, where that is said."""
    given = keywords.get("choices")
    names = options_added("add_argument", args, {**keywords, "default": Const(None)}) if given is not None else {}
    return {one: given for one in names if given is not None}


def choices(value: Made) -> Value | None:
    """Returns what an option of the command line may be, None where it may be anything."""
    parser = parser_of(value.owner)
    return parser.fields.get(CHOICES + value.name[1:]) if parser is not None else None


def is_parser(value: Value | None) -> bool:
    """Whether a value is an ArgumentParser."""
    return isinstance(value, Made) and value.name.rpartition(".")[2].endswith(("ArgumentParser", "ArgParser"))
