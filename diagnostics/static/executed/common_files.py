"""Checkpoints that every rank writes into one file, and caches that each builds which does not find them. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.saved_files import on_one_rank, path_of, read_path, same_path, written_path
from diagnostics.static.executed.training import meets
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.library import LAUNCHERS
from diagnostics.static.execution.values import Const, Made, Unknown, Value, sources

_INIT = "torch.distributed.init_process_group"
# What is no path, makes one of its own, or keeps a part on each rank.
_NO_PATHS = (
    "open",
    "io.BytesIO",
    "tempfile.",
    "uuid.",
    "time.",
    "datetime.",
    "os.getpid",
    "socket.",
    "argument",
    "item",
)
_THERE = frozenset(["exists", "is_file", "isfile"])
_SHARDS = ("FullyShardedDataParallel", "fully_shard", "Accelerator", "deepspeed.initialize", "parallelize_module")


def written_by_all(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (torch.save, init_process_group) where no test, path or function around speaks of ranks."""
    made = next((one for one in execution.named(_INIT) if not one.guards and not one.contexts), None)
    if made is None or any(one.name.endswith(_SHARDS) for one in execution.events):
        return
    for one in execution.named("torch.save"):
        path = path_of(one)
        found = list(sources(path))
        known = all(not isinstance(each, Unknown) for each in found) and bool(found)
        held = any(isinstance(each, Made) and each.name == ".state_dict" for each in sources(one.argument(0, "obj")))
        if not held or not known or one.contexts or one.is_handled or any(_is_no_path(each) for each in found):
            continue
        asked = [each.node.test for each in one.guards if isinstance(each.node, (ast.If, ast.IfExp))]
        said = [Const(ast.unparse(each)) for each in asked]
        said += [Const(ast.unparse(by)) for each in one.frames
                 for by in getattr(each.function.syntax, "decorator_list", ())]  # fmt: skip
        tests = [each for guard in one.guards for each in sources(guard.test)]
        agreed = any("exist" in str(each.value) for each in said)  # the first one makes it, in an order of their own
        if not agreed and not any(speaks_of_ranks(each) for each in (*found, *said, *tests)):
            yield one, made


def built_by_all(execution: Execution) -> Iterator[tuple[Event, Event, Guard]]:
    """Yields (write, read, test) where each rank writes the file that it does not find, and then reads it.

    Not where something lets one in before the others: a lock, a barrier under a test of the rank, a context.
    """
    events = execution.events
    begun = next((at for at, one in enumerate(events) if one.name == _INIT and not one.guards), None)
    if begun is None:
        return
    if any(_starts_processes(one) for one in events[:begun]):
        first = begun
    else:
        first = 0
    for at, one in enumerate(events):
        if _keeps_others_out(one):
            return
        path = written_path(one) if at >= first else None
        guard = next((each for each in one.guards if _asks_for_a_file(each)), None) if path is not None else None
        if path is None or guard is None or not _is_of_all_ranks(one, path):
            continue
        for read in events[at + 1 :]:
            if meets(read) and on_one_rank(read) is None:
                break
            if same_path(path, read_path(read)) and on_one_rank(read) is None and not read.is_handled:
                yield one, read, guard
                break


def _starts_processes(event: Event) -> bool:
    return event.name in LAUNCHERS or event.name.rpartition(".")[2] == "start"


def _keeps_others_out(event: Event) -> bool:
    ordered = meets(event) and on_one_rank(event) is not None
    last = event.name.rpartition(".")[2].lower()
    return ordered or "lock" in last or last in ("acquire", "sleep", "wait_for_everyone")


def _asks_for_a_file(guard: Guard) -> bool:
    """Whether a test asks whether a file is there: this one, or one that is written with it."""
    made = (one for one in sources(guard.test) if isinstance(one, Made))
    return not guard.handler and any(one.name.rpartition(".")[2] in _THERE for one in made)


def _is_of_all_ranks(event: Event, path: Value) -> bool:
    """Whether nothing around a write, nor its path, speaks of ranks."""
    found = list(sources(path))
    tests = [each for guard in event.guards for each in sources(guard.test)]
    said = [Const(ast.unparse(getattr(each.node, "test", each.node))) for each in event.guards if not each.handler]
    said += [Const(ast.unparse(by)) for each in event.frames
             for by in getattr(each.function.syntax, "decorator_list", ())]  # fmt: skip
    around = [one for one in event.contexts if not (isinstance(one, Made) and one.name in ("open", ".open"))]
    # What a caller gives is one for all, where its name says nothing of ranks.
    given = [each for each in found if not (isinstance(each, Made) and each.name == "argument")]
    known = not any(isinstance(each, Unknown) or _is_no_path(each) for each in given)
    return known and not around and not event.is_handled and not any(
        speaks_of_ranks(each) for each in (*found, *tests, *said)
    )  # fmt: skip


def _is_no_path(value: object) -> bool:
    return isinstance(value, Made) and value.name.startswith(_NO_PATHS)
