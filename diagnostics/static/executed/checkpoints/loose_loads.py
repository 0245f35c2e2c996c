"""States that are loaded with strict=False where no key fits: what wrappers put before them is still there. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.static.executed.checkpoints.folders import lies_in
from diagnostics.static.executed.file_names import listed_in, may_meet
from diagnostics.static.executed.saved_files import MOVES, is_moved, path_of, same_path
from diagnostics.static.executed.training import wrapper_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import ANY_KEY, Const, Made, Mapped, Value, options, sources
from diagnostics.static.program.functions import Function

_RENAMES = frozenset(
    [".replace", ".removeprefix", ".partition", ".rpartition", ".lstrip", ".startswith", ".split", ".rsplit", ".sub",
     "re.sub", ".index", ".find"]
)  # fmt: skip
_CONSUMES = "consume_prefix_in_state_dict_if_present"
_DDP, _COMPILED = "module.", "_orig_mod."


def loaded_loosely(execution: Execution) -> Iterator[tuple[Event, Event, str]]:
    """Yields (load_state_dict, save, prefix) where keys begin with "module." and the model that loads them has none."""
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
                    or is_moved(execution, each, load.args[0])
                    or _is_listed(execution, each, load, one.argument(0, "state_dict"))
                )
                and _is_under_key(each.argument(0, "obj"), one.argument(0, "state_dict"), load)
            ),
            None,
        )
        left = prefix_left(prefix_of(found.argument(0, "obj")), execution, one) if found is not None else ""
        if found is not None and left:
            yield one, found, left


def _is_listed(execution: Execution, saved: Event, load: Made, state: Value | None) -> bool:
    """Whether a load takes a file of the folder that is saved into, where all that is saved there is of a wrapper."""
    folders = listed_in(load.args[0])
    there = [one for one in execution.named("torch.save") if _lies_in_one(execution, one, folders)] if folders else []
    held = [one.argument(0, "obj") for one in there]
    if isinstance(state, Made) and state.name == "[]" and state.owner is load:
        held = [one for one in held if _has_key(one, state.args[0])]
    return saved in there and all(prefix_of(one) and _is_under_key(one, state, load) for one in held)


def _lies_in_one(execution: Execution, saved: Event, folders: Sequence[Value]) -> bool:
    moved = [one.argument(1, "dst") for one in execution.events if one.name in MOVES
             and same_path(path_of(saved), one.argument(0, "src"))]  # fmt: skip
    return any(lies_in(path, folder) for path in (path_of(saved), *moved) for folder in folders)


def _is_under_key(saved: Value | None, loaded: Value | None, load: Value) -> bool:
    """Whether what is loaded from a saved dict may be a wrapper's state: its key is looked at where it is known."""
    if not isinstance(saved, Mapped) or not isinstance(loaded, Made) or loaded.name != "[]" or loaded.owner is not load:
        return True
    if not isinstance(loaded.args[0], Const):  # one for whom each key has its own object: which is which is not known
        return all(prefix_of(one) for one in saved.fields.values() if _is_state(one))
    key = loaded.args[0].value
    return key not in saved.fields or all(map(prefix_of, options(saved.fields[key])))  # of a wrapper in each case


def _is_state(value: Value) -> bool:
    return any(isinstance(one, Made) and one.name == ".state_dict" for one in sources(value))


def prefix_of(value: Value | None) -> str:
    """Returns what wrappers have put before each key of a state, "" where that is a bare model's or not known."""
    for one in sources(value):
        if isinstance(one, Made) and one.name == ".state_dict" and (found := _before_keys(one.owner)):
            return found
    return ""


def _before_keys(model: Value | None) -> str:
    """Returns what a model and the wrappers inside of it put before its keys, outermost first."""
    found = ""
    while isinstance(model, Made):
        if model.name == "torch.compile":
            found, model = found + _COMPILED, model.argument(0, "model")
        elif model.name.endswith("DistributedDataParallel"):
            found, model = found + _DDP, model.argument(0, "module")
        elif model is wrapper_of(model):
            return ""  # another wrapper, whose keys are its own affair
        else:
            break
    return found


def prefix_left(prefix: str, execution: Execution, load: Event) -> str:
    """Returns what is left of a prefix when all that may be taken off before a load is taken off."""
    cut = _cut_off({load.function, *(one.function for one in load.frames)})
    if cut is None:
        return ""
    left = [one for one in (_COMPILED, _DDP) if one in prefix and not _names(cut, one)
            and not any(_renames_keys(each, one) for each in execution.events)]  # fmt: skip
    return "".join(sorted(left, key=prefix.index))


def _cut_off(functions: set[Function]) -> str | None:
    """Returns the texts that slices of keys cut off, joined; None where one of them cuts what is not known."""
    found = ""
    for function in functions:
        for node in function.nodes_of((ast.DictComp, ast.Assign)):
            targets = getattr(node, "targets", ())
            keys = [one.slice for one in targets if isinstance(one, ast.Subscript)]
            keys += [node.key] if isinstance(node, ast.DictComp) else []
            for one in (each for key in keys for each in ast.walk(key) if isinstance(each, ast.Slice)):
                if (text := _cut_by(one, function)) is None:
                    return None  # `state[key[at:]] = value`
                found += text
    return found


def _cut_by(cut: ast.Slice, function: Function) -> str | None:
    """Returns the text that is as long as what a slice leaves out, where it is written so."""
    begin = cut.lower
    if isinstance(begin, ast.Constant) and cut.upper is None:
        return next((one for one in (_DDP, _COMPILED, _DDP + _COMPILED) if len(one) == begin.value), None)
    if cut.upper is not None or not isinstance(begin, ast.Call) or ast.unparse(begin.func) != "len" or not begin.args:
        return None
    texts = [begin.args[0]]
    if isinstance(texts[0], ast.Name):
        texts = list(function.assigned.get(texts[0].id, ()))
    known = [one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return "".join(known) if known and len(known) == len(texts) else None


def _names(text: str, prefix: str) -> bool:
    """Whether a text that is taken off may be a prefix, or a part of it."""
    return "orig" in text if prefix == _COMPILED else "mod" in text.replace("_orig_mod", "")


def _is_loose_and_bare(load: Event) -> bool:
    """Whether a state is loaded with strict=False into a model that nothing wraps."""
    strict = load.argument(1, "strict")
    if not isinstance(strict, Const) or strict.value is not False:
        return False
    return not any(
        wrapper_of(one) is not None or (isinstance(one, Made) and one.name == "torch.compile")
        for one in (load.owner, *options(load.owner))  # where it may be one or the other, it is so where it is saved
    )


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
            if bare and (same_path(path_of(saved), path) or is_moved(execution, saved, path)):
                yield one, saved
                break


def loaded_from_others(execution: Execution, all_of: Sequence[Execution]) -> Iterator[tuple[Event, Event, str]]:
    """Yields (load_state_dict, save of another script, prefix): under that key all scripts save a wrapper's state.

    Or those that save the very file which is loaded where nothing else is asked for, whatever the script itself saves.
    """
    for one in execution.named(".load_state_dict"):
        state = _with_other_keys(one.argument(0, "state_dict"))
        if not _is_loose_and_bare(one) or not isinstance(state, Made):
            continue
        path = _loaded_path(state)
        own, others = list(execution.named("torch.save")), list[Event]()
        named: list[Event] = []
        for other in all_of:
            saves = list(other.named("torch.save")) if other is not execution else []
            others += saves
            named += [save for save in saves if _comes_to(path, save, other)]
        if named and not any(_comes_to(path, save, execution) for save in own):
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
        if held and whole and all(_is_wrapper_state(value) for _, value in held):
            left = [prefix_left(prefix_of(value), execution, one) for _, value in held]
            if all(left):
                yield one, held[0][0], left[0]


def _comes_to(path: Value | None, saved: Event, execution: Execution) -> bool:
    """Whether what is saved may come to be at a path."""
    return may_meet(path_of(saved), path) or is_moved(execution, saved, path)


def _loaded_path(state: Made) -> Value | None:
    """Returns the path of the file that a state is, or is taken from."""
    load = state.owner if state.name == "[]" else state
    return load.args[0] if isinstance(load, Made) and load.name == "torch.load" and load.args else None


def _has_key(saved: Value | None, key: Value) -> bool:
    """Whether what is saved may have something under a key: the state of a model alone has tensors there."""
    if isinstance(saved, Made) and saved.name == ".state_dict":
        return False
    return not isinstance(saved, Mapped) or not isinstance(key, Const) or key.value in saved.fields


def _with_other_keys(state: Value | None) -> Value | None:
    """Returns the state whose items a dict was made of."""
    if not isinstance(state, Mapped) or set(state.fields) != {ANY_KEY}:
        return state
    found = [one for one in sources(state) if isinstance(one, Made)]
    items = [one for one in found if one.name == "[]" and _is_load(one.owner) and isinstance(one.args[0], Const)]
    return next(iter(items), None) or next((one for one in found if _is_load(one)), None)


def _is_load(value: Value | None) -> bool:
    return isinstance(value, Made) and value.name == "torch.load"


def _renames_keys(event: Event, prefix: str = _DDP) -> bool:
    """Whether an event may take a prefix off: something of "module." is cut, or a text at its points."""
    if event.name.endswith(_CONSUMES):
        return True
    given = [one.value for one in event.args if isinstance(one, Const) and isinstance(one.value, str)]
    if any(isinstance(one, Const) and not isinstance(one.value, str) for one in event.args):
        return False  # of a tensor
    return event.name in _RENAMES and (not given or any(one == "." or _names(one, prefix) for one in given))


def _is_wrapper_state(value: Value) -> bool:
    return isinstance(value, Made) and value.name == ".state_dict" and bool(prefix_of(value))
