"""Checkpoints that every rank writes into one file. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.saved_files import path_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Unknown, sources

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


def _is_no_path(value: object) -> bool:
    return isinstance(value, Made) and value.name.startswith(_NO_PATHS)
