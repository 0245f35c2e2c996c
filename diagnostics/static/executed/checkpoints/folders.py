"""Folders that one rank makes, and into which the others write at once. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.saved_files import on_one_rank, same_path, written_path
from diagnostics.static.executed.training import is_distributed, meets, runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import WRAPPERS
from diagnostics.static.execution.values import Const, Made, Value, sources

_MAKES = frozenset(["os.makedirs", "os.mkdir", ".mkdir"])
_OWN_FOLDER = frozenset([".save_pretrained", ".save_to_disk"])  # these make the folder themselves
_SAME = frozenset(["str", "pathlib.Path", "os.fspath", "os.path.abspath", ".resolve", ".absolute", ".expanduser"])
_PARENTS = frozenset([".parent", "os.path.dirname"])
# What makes ranks wait for each other besides operations, or for a file.
_WAITS = frozenset(["wait_for_everyone", "sleep", "exists", "isdir", "is_dir", "prepare", "init_process_group",
                    "initialize", "new_group", "init_device_mesh", "save_state"])  # fmt: skip


def written_before_made(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (folder made by one rank, file that every rank writes into it) with nothing between that waits."""
    if not is_distributed(execution):
        return
    events = execution.events
    for at, made in enumerate(events):
        folder = _made(made)
        if folder is None or made.is_handled or runs_beside(made) or on_one_rank(made) is None:
            continue
        if any(_is_there_by(one, folder) for one in events[:at]):
            continue
        for one in events[at + 1 :]:
            if not _of_some_ranks(one) and _waits(one):
                break
            if _is_there_by(one, folder) and _made(one) is not None:
                break
            if _is_written_by_all(one) and lies_in(written_path(one), folder):
                yield made, one
                break


def _waits(event: Event) -> bool:
    return meets(event) or event.name in WRAPPERS or event.name.rpartition(".")[2] in _WAITS


def _made(event: Event) -> Value | None:
    """Returns the folder that an event makes."""
    if event.name not in _MAKES:
        return None
    return event.owner if event.name == ".mkdir" else event.argument(0, "name") or event.argument(0, "path")


def _is_there_by(event: Event, folder: Value) -> bool:
    """Whether an event has every rank make a folder, or shows that it is there: something is written into it."""
    if _of_some_ranks(event):
        return False
    made = _made(event)
    if made is not None:
        return same_path(made, folder) or lies_in(made, folder)
    return _is_written_by_all(event) and lies_in(written_path(event), folder)


def _is_written_by_all(event: Event) -> bool:
    if event.name in _OWN_FOLDER or written_path(event) is None:
        return False
    return not event.is_handled and not runs_beside(event) and not _of_some_ranks(event)


def _of_some_ranks(event: Event) -> bool:
    """Whether an event is under a test that may have to do with the rank."""
    return on_one_rank(event) is not None or any(
        speaks_of_ranks(each) for guard in event.guards for each in sources(guard.test)
    )


def lies_in(path: Value | None, folder: Value) -> bool:
    """Whether a path surely begins with a folder."""
    folder = _plain(folder) or folder
    if isinstance(folder, Made) and folder.name in _PARENTS:  # of the file itself: `path.parent.mkdir()`
        of = folder.owner if folder.owner is not None else folder.args[0] if folder.args else None
        if of is not None and same_path(path, of):
            return True
    for _ in range(6):
        path = _plain(path)
        if not isinstance(path, Made) or not path.args:
            return False
        if path.name not in ("os.path.join", "/", "f", "+", ".joinpath"):
            return False
        first = path.owner if path.name == ".joinpath" else path.args[0]
        rest = path.args if path.name == ".joinpath" else path.args[1:]
        if path.name in ("f", "+") and not (rest and isinstance(rest[0], Const) and str(rest[0].value)[:1] == "/"):
            return False
        if same_path(first, folder):
            return bool(rest) and not any(isinstance(one, Const) and ".." in str(one.value) for one in rest)
        path = first
    return False


def _plain(path: Value | None) -> Value | None:
    while isinstance(path, Made) and path.name in _SAME:
        path = path.owner if path.owner is not None else path.args[0] if path.args else None
    return path
