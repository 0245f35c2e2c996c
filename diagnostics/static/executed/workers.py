"""What data workers get a copy of: generators that are seeded once, and streams that each worker reads whole. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.training import parts
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Const, Instance, Made, Name

_GENERATORS = frozenset(
    ["numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "numpy.random.Generator"]
)
_WORKER = frozenset(["get_worker_info", "worker_id", "worker_info", "getpid", "num_workers", "split_dataset_by_node"])
_ITERABLE = "torch.utils.data.IterableDataset"


def copied_generators(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (DataLoader with workers, generator in its data set): each worker draws the same numbers."""
    for one in execution.named(LOADER):
        data = one.argument(0, "dataset")
        if isinstance(data, Instance) and _has_workers(one) and "worker_init_fn" not in one.keywords:
            held = next(_drawn_from(data), None)
            if held is not None and not _asks_worker(data):
                yield one, held


def _drawn_from(data: Instance) -> Iterator[Made]:
    """Yields the generators that an object, or one in it, keeps and uses after it was made."""
    for part in parts(data):
        if isinstance(part, Instance):
            for name, value in part.fields.items():
                if isinstance(value, Made) and value.name in _GENERATORS and _uses(part, name):
                    yield value


def _uses(part: Instance, name: str) -> bool:
    methods = [one for one in part.kind.kind.body if getattr(one, "name", "") not in ("", "__init__", "__post_init__")]
    return any(isinstance(node, ast.Attribute) and node.attr == name for one in methods for node in ast.walk(one))


def whole_streams(execution: Execution) -> Iterator[tuple[Event, Instance]]:
    """Yields (DataLoader with workers, stream) where nothing in the stream asks which worker it is in."""
    for one in execution.named(LOADER):
        data = one.argument(0, "dataset")
        if isinstance(data, Instance) and _has_workers(one) and "worker_init_fn" not in one.keywords:
            direct = {base.name for base in data.kind.bases if isinstance(base, Name)}
            if _ITERABLE in direct and not any(
                _asks_worker(each) for each in parts(data) if isinstance(each, Instance)
            ):
                yield one, data


def _has_workers(event: Event) -> bool:
    given = event.argument(5, "num_workers")
    return isinstance(given, Const) and isinstance(given.value, int) and given.value > 1


def _asks_worker(data: Instance) -> bool:
    """Whether a class speaks of workers, or of processes."""
    named = (getattr(node, "id", "") or getattr(node, "attr", "") for node in ast.walk(data.kind.kind))
    return not _WORKER.isdisjoint(named)
