"""Whether gradients stay on their rank: a backward in `with model.no_sync():`, where DDP reduces nothing. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

# Under its no_sync(), FSDP reduces nothing either, and still gathers the weights of each layer for the backward.
_SHARDS = frozenset(["FullyShardedDataParallel", "FSDP", "fully_shard", "deepspeed"])


def is_kept_local(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call of a function stands in a block of no_sync() that is entered in each round."""
    file = project.file_with(function)
    if "no_sync" not in file.words or any(one.words & _SHARDS for one in project.python):
        return False
    outer = file.parents.get(call)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            entered = (one.context_expr for one in outer.items)
            if any(isinstance(one, ast.Call) and last_name(one.func) == "no_sync" for one in entered):
                return True
        outer = file.parents.get(outer)
    return False
