"""What torch.save writes and torch.load, with weights_only=True as its default, does not read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnostics.static.execution.configuration import parser_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import (
    Const,
    Instance,
    Items,
    Made,
    Mapped,
    Procedure,
    Value,
    options,
    same,
    sources,
)

_DEPTH = 3
_PATHS = frozenset(["pathlib.Path", "pathlib.PosixPath"])
_CLOCKS = frozenset(
    ["datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.timedelta"]
)
_NUMPY = frozenset(
    ["mean", "nanmean", "median", "std", "var", "sum", "nansum", "max", "min", "amax", "amin", "average", "argmax",
     "argmin", "array", "asarray", "zeros", "ones", "full", "empty", "concatenate", "stack", "arange", "linspace",
     "float32", "float64", "int32", "int64", "random.get_state", "percentile", "quantile"]
)  # fmt: skip
_NO_MODULES = frozenset(["Parameter", "Buffer"])  # tensors, which are read


def refused_loads(execution: Execution) -> Iterator[tuple[Event, Event, str, str]]:
    """Yields (torch.load, torch.save, key, what lies there) where a load refuses what the same program writes.

    A load belongs to a save by its path, or by the keys that are read of what was loaded.
    """
    saves = [(one, found) for one in execution.named("torch.save") if (found := _refused(one)) is not None]
    for load in execution.named("torch.load") if saves else ():
        if not _is_restricted(load):
            continue
        read = _keys_read(load, execution)
        for save, (key, told) in saves:
            table = save.argument(0, "obj")
            written = set(table.fields) if isinstance(table, Mapped) else set()
            if _same_file(load, save) or (len(read) > 1 and read <= written):
                yield load, save, key, told
                break


def _is_restricted(load: Event) -> bool:
    said = load.keywords.get("weights_only")
    if "**" in load.keywords or load.tries or load.is_handled:
        return False
    return said is None or (isinstance(said, Const) and said.value is True)


def _same_file(load: Event, save: Event) -> bool:
    read, written = load.argument(0, "f"), save.argument(1, "f")
    return read is not None and written is not None and same(read, written)


def _keys_read(load: Event, execution: Execution) -> set[str]:
    """Returns the keys of a checkpoint that a program asks for."""
    given = (each for one in execution.events for each in (one.owner, *one.args, *one.keywords.values()))
    made = (one for each in given for one in sources(each) if isinstance(one, Made))
    items = (one for one in made if load.value is not None and load.value in options(one.owner))
    keys = (one.args[0] for one in items if one.name in ("[]", ".get", ".pop") and one.args)
    return {one.value for one in keys if isinstance(one, Const) and isinstance(one.value, str)}


def _refused(save: Event) -> tuple[str, str] | None:
    """Returns the key of what is refused, and what it is: "" where it is all that is saved."""
    given = save.argument(0, "obj")
    return _within(given, "", _DEPTH) if given is not None else None


def _within(value: Value, key: str, depth: int) -> tuple[str, str] | None:
    if isinstance(value, Mapped) and value.kind != "namespace":
        return _in_table(value.fields, key, depth)
    if isinstance(value, Items):
        parts = (_within(one, key, depth - 1) for one in value.items) if depth else ()
        return next((one for one in parts if one is not None), None)
    told = [_told(one) for one in options(value)]
    return (key, told[0]) if told and all(told) else None


def _in_table(fields: Mapping[object, Value], key: str, depth: int) -> tuple[str, str] | None:
    for name, one in fields.items() if depth else ():
        found = _within(one, key or str(name), depth - 1) if isinstance(one, Value) else None
        if found is not None:
            return found
    return None


def _told(value: Value) -> str:
    """Returns what a value is that weights_only=True refuses, "" for what it reads and what is not known."""
    if isinstance(value, Instance):
        if any(getattr(one, "name", "").startswith("__reduce") for one in value.kind.kind.body):
            return ""  # it is written as something else
        return f"an object of {value.kind.kind.name}"
    if isinstance(value, Procedure):
        return f"the function {value.function.name}"
    if isinstance(value, Mapped):
        return "a name space" if value.kind == "namespace" else ""
    if not isinstance(value, Made):
        return ""
    first, _, last = value.name.rpartition(".")
    if parser_of(value) is not None and value.name != "[]":
        return "an argparse.Namespace"
    if value.name in _PATHS or (value.name == "/" and any(_is_path(one) for one in value.args)):
        return "a Path"
    if value.name in _CLOCKS:
        return "a time of datetime"
    if value.name.startswith("numpy.") and value.name.removeprefix("numpy.") in _NUMPY:
        return f"what {value.name}() gives"
    if first in ("torch.nn", "torch.nn.parallel", "torch.optim") and last[:1].isupper() and last not in _NO_MODULES:
        return f"a whole {last}"
    return ""


def _is_path(value: Value) -> bool:
    made = value if isinstance(value, Made) else None
    return made is not None and (made.name in _PATHS or (made.name == "/" and any(map(_is_path, made.args))))
