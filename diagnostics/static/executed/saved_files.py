"""Files that a program saves and loads: by whom, with what, and what stands between. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnostics.static.executed.training import is_distributed, meets
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import Const, Made, Name, Value, options, same, sources

_RANKS = frozenset(["torch.distributed.get_rank", "rank"])
MOVES = frozenset(["os.replace", "os.rename", "shutil.move"])
_VARIABLES = frozenset(["RANK", "LOCAL_RANK", "SLURM_PROCID"])


def asks_rank(value: Value) -> bool:
    """Whether a value is computed from the rank."""
    found = list(sources(value))
    variable = any(isinstance(one, Const) and one.value in _VARIABLES for one in found)
    return any(isinstance(one, Made) and (one.name in _RANKS or one.name.endswith(".get_rank")) for one in found) or (
        variable and any(isinstance(one, Name) and one.name in ("os.environ", "os.getenv", "os") for one in found)
    )


def on_one_rank(event: Event) -> Guard | None:
    """Returns the test of the rank that an event is under."""
    return next((one for one in event.guards if not one.handler and asks_rank(one.test)), None)


# Where the path stands among the arguments of what writes a file, and of what reads one; -1: it is the owner.
_WRITES = {
    "torch.save": (1, "f"), "numpy.save": (0, "file"), "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    ".tofile": (0, "fid"), ".to_csv": (0, "path_or_buf"), ".to_parquet": (0, "path"), ".to_pickle": (0, "path"),
    ".write_text": (-1, ""), ".write_bytes": (-1, ""), "safetensors.torch.save_file": (1, "filename"),
    ".save_to_disk": (0, "dataset_path"), ".save_pretrained": (0, "save_directory"),
}  # fmt: skip
_READS = {
    "torch.load": (0, "f"), "numpy.load": (0, "file"), "numpy.memmap": (0, "filename"), "numpy.fromfile": (0, "file"),
    "pandas.read_csv": (0, "filepath_or_buffer"), "pandas.read_parquet": (0, "path"),
    ".read_text": (-1, ""), ".read_bytes": (-1, ""), "safetensors.torch.load_file": (0, "filename"),
    "datasets.load_from_disk": (0, "dataset_path"), ".from_pretrained": (0, "pretrained_model_name_or_path"),
}  # fmt: skip


def written_path(event: Event) -> Value | None:
    """Returns the path of the file that an event writes."""
    if event.name == "open" and _mode(event) in ("w", "wb", "x"):
        return event.argument(0, "file")
    return _path(event, _WRITES)


def read_path(event: Event) -> Value | None:
    """Returns the path of the file that an event reads."""
    if event.name == "open" and _mode(event) in ("r", "rb", "rt"):
        return event.argument(0, "file")
    return _path(event, _READS)


def _mode(event: Event) -> object:
    given = event.argument(1, "mode")
    return given.value if isinstance(given, Const) else "r" if given is None else ""


def _path(event: Event, table: Mapping[str, tuple[int, str]]) -> Value | None:
    place = table.get(event.name)
    if place is None:
        return None
    return event.owner if place[0] < 0 else event.argument(*place)


def path_of(event: Event) -> Value | None:
    """Returns the path of a torch.save or torch.load."""
    return event.argument(1, "f") if event.name == "torch.save" else event.argument(0, "f")


def same_path(one: Value | None, other: Value | None) -> bool:
    """Whether two paths may be one: each of what they may be is compared."""
    return (
        one is not None
        and other is not None
        and any(same(_plain(a), _plain(b)) for a in options(one) for b in options(other))
    )


def _plain(path: Value) -> Value:
    while isinstance(path, Made) and path.name in ("str", "pathlib.Path", "os.fspath") and path.args:
        path = path.args[0]
    return path


def read_while_written(execution: Execution) -> Iterator[tuple[Event, Event, Guard]]:
    """Yields (save, load, test of the rank): one rank writes, all read, and nothing makes these wait."""
    if not is_distributed(execution):
        return
    events = execution.events
    for at, saved in enumerate(events):
        written = written_path(saved)
        guard = on_one_rank(saved) if written is not None else None
        for place in range(at + 1, len(events)) if guard is not None else ():
            one = events[place]
            if (meets(one) and on_one_rank(one) is None) or one.name.rpartition(".")[2] in (
                "wait_for_everyone",
                "sleep",
            ):
                break
            if on_one_rank(one) is None and same_path(written, read_path(one)) and not _in_other_arm(saved, one):
                yield saved, one, guard  # type: ignore[misc] # asked for above
                break


def _in_other_arm(one: Event, other: Event) -> bool:
    """Whether two events stand in the two arms of one test: no run comes to both."""
    return any(a.node is b.node and a.taken is not b.taken for a in one.guards for b in other.guards)


def loaded_onto_one_device(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (load, save) where each rank loads what one saved from its GPU, with no word of where to."""
    if not is_distributed(execution):
        return
    moved = [
        one
        for one in execution.events
        if one.name == ".cuda" or (one.name == ".to" and is_gpu(one.argument(0, "device")))
    ]
    saves = [one for one in execution.named("torch.save") if moved and _holds_states(one.argument(0, "obj"))]
    for one in execution.named("torch.load"):
        if one.argument(1, "map_location") is None and on_one_rank(one) is None:
            found = next((each for each in saves if on_one_rank(each) and same_path(path_of(each), path_of(one))), None)
            moved_away = found is None and next(
                (each for each in saves if on_one_rank(each) and is_moved(execution, each, path_of(one))), None
            )
            if found or moved_away:
                yield one, found or moved_away  # type: ignore[misc] # one of them is


def is_moved(execution: Execution, saved: Event, loaded: Value | None) -> bool:
    """Whether what was saved is moved to the place that is loaded: os.replace(temporary, path)."""
    moves = [one for one in execution.events if one.name in MOVES]
    return any(same_path(path_of(saved), one.argument(0, "src")) and same_path(loaded, one.argument(1, "dst"))
               for one in moves)  # fmt: skip


def is_gpu(value: Value | None) -> bool:
    """Whether a device is a GPU."""
    found = [one for one in sources(value) if isinstance(one, Const)]
    return any(
        isinstance(one.value, str) and (one.value.startswith("cuda") or one.value == "LOCAL_RANK") for one in found
    )


def _holds_states(value: Value | None) -> bool:
    found = [one for one in sources(value) if isinstance(one, Made)]
    return any(one.name == ".state_dict" for one in found) and not any(one.name in (".cpu", ".to") for one in found)
