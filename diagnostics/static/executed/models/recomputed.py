"""Blocks that are recomputed in backward by a way that DDP's search for unused parameters does not see. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.training import is_part, wraps
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const

_CHECKPOINTS = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")
_DDP = "torch.nn.parallel.DistributedDataParallel"


def hidden_from_search(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (reentrant checkpoint of a block, wrapping of its model with find_unused_parameters=True)."""
    for _, wrap, model in wraps(execution):
        if wrap.name != _DDP or not _is_true(wrap, "find_unused_parameters") or "static_graph" in wrap.keywords:
            continue
        for one in execution.named(*_CHECKPOINTS):
            way = one.keywords.get("use_reentrant")
            reentrant = way is None or (isinstance(way, Const) and way.value in (None, True))
            if reentrant and "**" not in one.keywords and one.args and is_part(one.args[0], model):
                yield one, wrap
                break


def _is_true(event: Event, name: str) -> bool:
    given = event.keywords.get(name)
    return isinstance(given, Const) and given.value is True
