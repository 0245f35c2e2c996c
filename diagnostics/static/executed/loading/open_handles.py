"""Files that were open before a loader forked its workers, and that the workers read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import parts
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.implied import WORKER
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Const, Instance, Items, Made, Mapped, Unknown, Value, options, usual

HANDLES = frozenset(["h5py.File", "lmdb.open", "open", "tarfile.open", "zipfile.ZipFile", "sqlite3.connect"])
_PICKLED_ANEW = frozenset(["__getstate__", "__setstate__", "__reduce__"])
_DEEPEST = 3
_OTHERWISE = frozenset(["multiprocessing_context", "worker_init_fn", "**"])


def handles_of_workers(execution: Execution) -> Iterator[tuple[Made, Event, Event]]:
    """Yields (file that is opened where the data set is made, its loader with workers, what reads it in a worker)."""
    for loader in execution.named(LOADER):
        data = loader.argument(0, "dataset")
        if not isinstance(data, Instance) or not _has_workers(loader) or _OTHERWISE & loader.keywords.keys():
            continue
        owners = [one for one in parts(data) if isinstance(one, Instance)]
        held = [(each, value, handle) for one in owners for value in one.fields.values() for each in _kept(value)
                if (handle := _handle_of(each)) is not None]  # fmt: skip
        if not held or any(_is_pickled_anew(one) for one in owners):
            continue
        inside = [one for one in execution.events if _loader_around(one) is loader.value]
        for kept, store, handle in held:
            if any(one.value is handle for one in inside):
                continue  # each worker opens its own
            used = next((one for one in inside if _uses(one, kept, store)), None)
            if used is not None and handle.node is not None and handle.function is not None:
                yield handle, loader, used
                break


def _kept(value: Value) -> Iterator[Value]:
    """Yields what an attribute may hold, what is in a list or dict of it, too."""
    for one in options(value):
        yield one
        if isinstance(one, Items):
            yield from (each for item in one.items for each in options(item))
        elif isinstance(one, Mapped):
            yield from (each for item in one.fields.values() if isinstance(item, Value) for each in options(item))


def _handle_of(value: Value) -> Made | None:
    """Returns the open file that a value is, or of which it is a part that is read later: `file["frames"]`."""
    for _ in range(_DEEPEST):
        if not isinstance(value, Made) or value.name in HANDLES:
            break
        index = value.args[0] if value.name == "[]" and value.args else None
        if value.owner is None or index is None or not isinstance(index, (Const, Unknown)) or (
            isinstance(index, Const) and not isinstance(index.value, str)
        ):  # fmt: skip
            return None
        value = value.owner
    return value if isinstance(value, Made) and value.name in HANDLES else None


def _is_pickled_anew(held: Instance) -> bool:
    return any(getattr(one, "name", "") in _PICKLED_ANEW for one in held.kind.kind.body)


def _has_workers(loader: Event) -> bool:
    given = usual(loader.argument(5, "num_workers"))
    return isinstance(given, Const) and isinstance(given.value, int) and given.value > 0


def _loader_around(event: Event) -> Value | None:
    found = next((one for one in event.contexts if isinstance(one, Made) and one.name == WORKER), None)
    return found.owner if found is not None else None


def _uses(event: Event, kept: Value, store: Value) -> bool:
    """Whether a call is one of the kept file, or is given something of it, or of some file of those that are kept."""
    held = [kept, *(one for one in options(store) if isinstance(one, (Items, Mapped)))]
    for given in (event.owner, *event.args, *event.keywords.values()):
        at = given
        while at is not None and not any(at is one for one in held):
            at = at.owner if isinstance(at, Made) else None
        if at is not None:
            return True
    return False
