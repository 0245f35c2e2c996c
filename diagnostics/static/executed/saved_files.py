"""Files that a program saves and loads: by whom, with what, and what stands between. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from diagnostics.static.executed.file_names import may_meet
from diagnostics.static.executed.training import is_distributed, meets, wrapper_of
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import ANY_KEY, Const, Made, Mapped, Name, Value, options, same, sources

_RANKS = frozenset(["torch.distributed.get_rank", "rank"])
_VARIABLES = frozenset(["RANK", "LOCAL_RANK", "SLURM_PROCID"])
_RENAMES = frozenset([".replace", ".removeprefix", ".partition", ".lstrip", ".startswith", ".split", ".sub"])
_CONSUMES = "consume_prefix_in_state_dict_if_present"


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
            if on_one_rank(one) is None and same_path(written, read_path(one)):
                yield saved, one, guard  # type: ignore[misc] # asked for above
                break


def loaded_loosely(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (load_state_dict, save) where keys begin with "module." and the model that loads them has none such."""
    if any(one.name in _RENAMES or one.name.endswith(_CONSUMES) for one in execution.events):
        return
    saves = [one for one in execution.named("torch.save") if prefix_of(one.argument(0, "obj"))]
    for one in execution.named(".load_state_dict") if saves else ():
        if not _is_loose_and_bare(one):
            continue
        loads = [
            each
            for each in sources(one.argument(0, "state_dict"))
            if isinstance(each, Made) and each.name == "torch.load"
        ]
        found = next(
            (
                each
                for each in saves
                for load in loads
                if load.args
                and (
                    same_path(path_of(each), load.args[0])
                    or may_meet(path_of(each), load.args[0])
                    or _renamed(execution, each, load.args[0])
                )
                and _is_under_key(each.argument(0, "obj"), one.argument(0, "state_dict"), load)
            ),
            None,
        )
        if found is not None:
            yield one, found


def _is_under_key(saved: Value | None, loaded: Value | None, load: Value) -> bool:
    """Whether what is loaded from a saved dict may be a wrapper's state: its key is looked at where it is known."""
    if not isinstance(saved, Mapped) or not isinstance(loaded, Made) or loaded.name != "[]" or loaded.owner is not load:
        return True
    key = loaded.args[0].value if isinstance(loaded.args[0], Const) else None
    return key not in saved.fields or bool(prefix_of(saved.fields[key]))


def prefix_of(value: Value | None) -> str:
    """Returns what a wrapper has put before each key of a state, "" where that is a bare model's or not known."""
    for one in sources(value):
        if isinstance(one, Made) and one.name == ".state_dict":
            wrapper = wrapper_of(one.owner)
            if wrapper is not None and wrapper.name.endswith("DistributedDataParallel"):
                return "module."
            if wrapper is None and isinstance(one.owner, Made) and one.owner.name == "torch.compile":
                return "_orig_mod."
    return ""


def _is_loose_and_bare(load: Event) -> bool:
    """Whether a state is loaded with strict=False into a model that nothing wraps."""
    strict = load.argument(1, "strict")
    compiled = isinstance(load.owner, Made) and load.owner.name == "torch.compile"
    return isinstance(strict, Const) and strict.value is False and wrapper_of(load.owner) is None and not compiled


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
                (each for each in saves if on_one_rank(each) and _renamed(execution, each, path_of(one))), None
            )
            if found or moved_away:
                yield one, found or moved_away  # type: ignore[misc] # one of them is


def _renamed(execution: Execution, saved: Event, loaded: Value | None) -> bool:
    """Whether what was saved is moved to the place that is loaded: os.replace(temporary, path)."""
    moves = [one for one in execution.events if one.name in ("os.replace", "os.rename", "shutil.move")]
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


def bare_into_wrapper(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (load_state_dict, save) where the wrapper, whose keys begin with "module.", is given a bare model's."""
    if any(_renames_keys(one) for one in execution.events):
        return
    for one in execution.named(".load_state_dict"):
        strict, state = one.argument(1, "strict"), one.argument(0, "state_dict")
        wrapper = wrapper_of(one.owner)
        loose = isinstance(strict, Const) and strict.value is False
        if wrapper is None or not loose or not wrapper.name.endswith("DistributedDataParallel"):
            continue
        key = state.args[0] if isinstance(state, Made) and state.name == "[]" else None
        load = state.owner if key is not None and isinstance(state, Made) else state
        if not isinstance(load, Made) or load.name != "torch.load" or not load.args:
            continue
        for saved in execution.named("torch.save"):
            held = saved.argument(0, "obj")
            if isinstance(held, Mapped) and isinstance(key, Const):
                held = held.fields.get(key.value)
            bare = isinstance(held, Made) and held.name == ".state_dict" and wrapper_of(held.owner) is None
            path = load.args[0]
            if bare and (same_path(path_of(saved), path) or _renamed(execution, saved, path)):
                yield one, saved
                break


def loaded_from_others(execution: Execution, all_of: Sequence[Execution]) -> Iterator[tuple[Event, Event]]:
    """Yields (load_state_dict, save of another script): under that key each script of the project saves a wrapper's.

    Or those that save the very file which is loaded where nothing else is asked for, whatever the script itself saves.
    """
    for one in execution.named(".load_state_dict"):
        state = _unrenamed(one.argument(0, "state_dict"), one)
        if not _is_loose_and_bare(one) or not isinstance(state, Made):
            continue
        own, others = (list(each) for each in _saves(execution, all_of))
        named = [save for save in others if may_meet(path_of(save), _loaded_path(state))]
        if named and not any(may_meet(path_of(save), _loaded_path(state)) for save in own):
            own, others = [], named
        if own and (state.name != "[]" or any(_has_key(one.argument(0, "obj"), state.args[0]) for one in own)):
            continue  # it may have been given its own, or one from elsewhere
        if state.name == "torch.load":  # the file as a whole
            given = [(save, save.argument(0, "obj")) for save in others]
            held: list[tuple[Event, Value]] = [
                (save, one) for save, one in given if isinstance(one, Made) and one.name == ".state_dict"
            ]
            whole = len(held) == len(others)
        elif state.name == "[]" and isinstance(state.args[0], Const) and _is_load(state.owner):
            key, whole = state.args[0].value, True
            held = [(save, table.fields[key]) for save in others
                    if isinstance(table := save.argument(0, "obj"), Mapped) and key in table.fields]  # fmt: skip
        else:
            continue
        prefix = prefix_of(held[0][1]) if held and whole and all(_is_wrapper_state(value) for _, value in held) else ""
        if prefix and not any(_renames_keys(each, prefix) for each in execution.events):
            yield one, held[0][0]


def _saves(execution: Execution, all_of: Sequence[Execution]) -> tuple[Iterator[Event], Iterator[Event]]:
    """Returns what a script saves, and what the others do."""
    others = (save for other in all_of if other is not execution for save in other.named("torch.save"))
    return execution.named("torch.save"), others


def _loaded_path(state: Made) -> Value | None:
    """Returns the path of the file that a state is, or is taken from."""
    load = state.owner if state.name == "[]" else state
    return load.args[0] if isinstance(load, Made) and load.name == "torch.load" and load.args else None


def _has_key(saved: Value | None, key: Value) -> bool:
    """Whether what is saved may have something under a key: the state of a model alone has tensors there."""
    if isinstance(saved, Made) and saved.name == ".state_dict":
        return False
    return not isinstance(saved, Mapped) or not isinstance(key, Const) or key.value in saved.fields


def _unrenamed(state: Value | None, load: Event) -> Value | None:
    """Returns the state whose items a dict was made of, where nothing but methods of texts changes its keys."""
    if not isinstance(state, Mapped) or set(state.fields) != {ANY_KEY}:
        return state
    for function in {load.function, *(one.function for one in load.frames)}:
        for node in function.nodes_of((ast.DictComp, ast.Assign)):
            targets = getattr(node, "targets", ())
            keys = [one.slice for one in targets if isinstance(one, ast.Subscript)]
            keys += [node.key] if isinstance(node, ast.DictComp) else []
            if any(isinstance(one, ast.Slice) for key in keys for one in ast.walk(key)):
                return None  # `state[key[7:]] = value`
    found = [one for one in sources(state) if isinstance(one, Made)]
    items = [one for one in found if one.name == "[]" and _is_load(one.owner) and isinstance(one.args[0], Const)]
    return next(iter(items), None) or next((one for one in found if _is_load(one)), None)


def _is_load(value: Value | None) -> bool:
    return isinstance(value, Made) and value.name == "torch.load"


def _renames_keys(event: Event, prefix: str = "module.") -> bool:
    """Whether an event may take a prefix off: something of "module." is cut, or a text at its points."""
    if event.name.endswith(_CONSUMES):
        return True
    given = [one.value for one in event.args if isinstance(one, Const) and isinstance(one.value, str)]
    if any(isinstance(one, Const) and not isinstance(one.value, str) for one in event.args):
        return False  # of a tensor
    part = "mod" if prefix == "module." else "orig"
    return event.name in _RENAMES and (not given or any(one == "." or part in one for one in given))


def _is_wrapper_state(value: Value) -> bool:
    return isinstance(value, Made) and value.name == ".state_dict" and bool(prefix_of(value))
