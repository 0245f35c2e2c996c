"""Files in a folder that each machine has for itself, which one rank of the whole job makes for all. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.executed.one_rank import ALL_RANKS, of_rank, ranks_at
from diagnostics.static.executed.saved_files import read_path, same_path, written_path
from diagnostics.static.execution.configuration import parser_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, options, sources, truth, usual

_FIRST = frozenset([0])
_DATASETS = "torchvision.datasets."
# What fetches or unpacks something, and where among its arguments the place stands.
_FETCHES = {
    "urllib.request.urlretrieve": (1, "filename"), "torch.hub.download_url_to_file": (1, "dst"),
    "huggingface_hub.snapshot_download": (99, "local_dir"), "shutil.copytree": (1, "dst"), "shutil.copy": (1, "dst"),
    "shutil.copyfile": (1, "dst"), "shutil.unpack_archive": (1, "extract_dir"), ".extractall": (0, "path"),
}  # fmt: skip
_LISTS = {"torchvision.datasets.ImageFolder": (0, "root"), "os.listdir": (0, "path"), "os.scandir": (0, "path")}
_JOINS = frozenset(["os.path.join", "pathlib.Path", "/", "+", "str", "os.fspath", "f-string", "f", "os.path.abspath",
                    "os.path.expanduser"])  # fmt: skip
_OF_MACHINE = re.compile(r"(?:/tmp|/var/tmp|/dev/shm|\$\{?(?:SLURM_)?TMPDIR\}?)(?:/|$)")
_VARIABLES = frozenset(["TMPDIR", "SLURM_TMPDIR"])
_LOCAL = re.compile(r"LOCAL|local")
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class MadeOnce:
    """`made` puts files below `place`, the text of a folder of one machine, on rank 0; `read` finds them there."""

    made: Event
    read: Event
    place: str


def made_on_first_rank(execution: Execution, arguments: Sequence[str]) -> Iterator[MadeOnce]:
    """Yields what the first of all ranks alone makes in a folder of its machine, and every rank reads.

    `arguments` are those that the program is started with.
    """
    for at, made in enumerate(execution.events):
        path = _made_path(made)
        place = of_machine(path, arguments) if path is not None else ""
        if not place or _is_made_by_each(execution, path):
            continue
        if _fetches_on_first(made) and ranks_at(made) == ALL_RANKS:
            yield MadeOnce(made, made, place)
        elif _is_of_first(made) and not _is_off(made.keywords.get("download")):
            behind = (one for one in execution.events[at + 1 :] if ranks_at(one) == ALL_RANKS)
            read = next((one for one in behind if same_path(path, _read_path(one))), None)
            if read is not None:
                yield MadeOnce(made, read, place)


def of_machine(path: Value | None, arguments: Sequence[str]) -> str:
    """Returns where a path begins, where that is a folder that each machine has for itself; "" elsewhere."""
    text = _begin(path, arguments, _DEPTH)
    return text if _OF_MACHINE.match(text) else ""


def _made_path(event: Event) -> Value | None:
    if event.name.startswith(_DATASETS) and "download" in event.keywords:
        return event.argument(0, "root")
    place = _FETCHES.get(event.name)
    return event.argument(*place) if place is not None else written_path(event)


def _read_path(event: Event) -> Value | None:
    place = _LISTS.get(event.name)
    if place is None and event.name.startswith(_DATASETS):
        place = (0, "root")
    return event.argument(*place) if place is not None else read_path(event)


def _fetches_on_first(event: Event) -> bool:
    """Whether `download=` is true on the first of all ranks alone."""
    given = event.keywords.get("download")
    if given is None or not _asks_for_global_rank(given):
        return False
    told = [of_rank(given, rank) for rank in sorted(ALL_RANKS)]
    return None not in told and [bool(one.value) for one in told if one is not None] == [True, False, False, False]


def _is_of_first(event: Event) -> bool:
    tests = [one.test for one in event.guards if not one.handler]
    return ranks_at(event) == _FIRST and any(_asks_for_global_rank(one) for one in tests) and not any(
        _asks_for_local_rank(one) for one in tests
    )  # fmt: skip


def _is_off(value: Value | None) -> bool:
    return value is not None and truth(value) is False


def _asks_for_global_rank(value: Value) -> bool:
    found = list(sources(value))
    asked = any(isinstance(one, Made) and one.name == "torch.distributed.get_rank" for one in found)
    named = any(isinstance(one, Const) and one.value in ("RANK", "SLURM_PROCID") for one in found)
    return (asked or named) and not _asks_for_local_rank(value)


def _asks_for_local_rank(value: Value) -> bool:
    told = (one.value if isinstance(one, Const) else getattr(one, "name", "") for one in sources(value))
    return any(_LOCAL.search(str(one)) for one in told)


def _is_made_by_each(execution: Execution, path: Value | None) -> bool:
    """Whether another event makes the same on each machine, or on each rank."""
    return any(
        same_path(path, _made_path(one)) and not _is_of_first(one) and not _is_off(one.keywords.get("download"))
        for one in execution.events
        if one.keywords.get("download") is None or not _fetches_on_first(one)
        if _made_path(one) is not None
    )


def _begin(value: Value | None, arguments: Sequence[str], depth: int) -> str:
    """Returns the text that a path begins with, "" where it is not known."""
    found = options(value)
    if len(found) != 1 or not depth:
        return ""
    one = found[0]
    if isinstance(one, Const):
        return one.value if isinstance(one.value, str) else ""
    if not isinstance(one, Made):
        return ""
    if one.name == "tempfile.gettempdir":
        return "$TMPDIR"  # what it stands for where nobody sets it
    if one.name in _JOINS and one.args:
        return _begin(one.args[0], arguments, depth - 1)
    asked = one.args[0] if one.args else None
    if isinstance(asked, Const) and asked.value in _VARIABLES:
        return f"${asked.value}"
    if one.name.startswith(".") and parser_of(one.owner) is not None:
        given = _given(one.name[1:], arguments)
        if given is not None:
            return given
    plain = usual(one)
    return _begin(plain, arguments, depth - 1) if plain is not one else ""


def _given(name: str, arguments: Sequence[str]) -> str | None:
    """Returns what a command gives an option, None where it does not."""
    for number, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option.startswith("--") and option[2:].replace("-", "_") == name:
            return value if equals else arguments[number + 1] if number + 1 < len(arguments) else ""
    return None
