"""What data workers get a copy of: generators that are seeded once, and streams that each worker reads whole. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.executed.ranks import is_common_seed, speaks_of_ranks
from diagnostics.static.executed.saved_files import asks_rank, is_gpu
from diagnostics.static.executed.training import is_distributed, parts
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.implied import WORKER
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import (
    MOST_SEEN,
    Class,
    Const,
    Instance,
    Made,
    Name,
    Value,
    made_of,
    sources,
    usual,
)

_GENERATORS = frozenset(
    ["numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "numpy.random.Generator"]
)
_WORKER = frozenset(["get_worker_info", "worker_id", "worker_info", "getpid", "num_workers", "split_dataset_by_node"])
_RESEEDED = _WORKER | {"initial_seed", "urandom", "SystemRandom", "seed_worker"}  # who seeds in the worker asks these
_DEALS = frozenset(
    [".prepare", ".setup_dataloaders", ".prepare_data_loader", "datasets.distributed.split_dataset_by_node"]
)
_SEEDS = {"numpy.random.seed": "numpy.random.", "random.seed": "random."}
# What comes to the same in each worker of a loader, if what it is made of does.
_SAME = frozenset(["int", "+", "-", "*", "//", "%", "&", "^", "[]", "argument", "os.environ.get", "os.getenv", "rank",
                   "torch.distributed.get_rank", "torch.distributed.get_world_size", "carried",
                   "argparse.ArgumentParser", ".parse_args", ".parse_known_args"])  # fmt: skip
_WORKER_INFO = "torch.utils.data.get_worker_info"
_SEEDERS = frozenset(
    ["hash", *_GENERATORS, *_SEEDS, "torch.manual_seed", ".manual_seed", ".seed", "random.SystemRandom",
     "numpy.random.SeedSequence", "torch.Generator"]
)  # fmt: skip
_ITERABLE = "torch.utils.data.IterableDataset"


def copied_generators(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (DataLoader with workers, generator in its data set): each worker draws the same numbers."""
    for one in execution.named(LOADER):
        data = one.argument(0, "dataset")
        loader = one.value
        if isinstance(data, Instance) and isinstance(loader, Made) and _has_several(loader):
            held = next(_drawn_from(data), None) if "worker_init_fn" not in one.keywords else None
            if held is not None and _RESEEDED.isdisjoint(_spoken_of(data)):
                yield one, held


def seeded_alike(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (seeding of a generator in the data workers, loader) by a number that is no other in another worker."""
    for one in execution.events:
        loader = loader_around(one) if one.name in _SEEDS and one.args else None
        if loader is None or not has_some_workers(loader):
            continue
        inside = (each.name for each in execution.events if loader_around(each) is loader)
        draws = any(name.startswith(_SEEDS[one.name]) and name not in _SEEDS for name in inside)
        if draws and all(is_alike(each) for each in sources(one.args[0])):
            yield one, loader


def is_alike(value: Value) -> bool:
    """Whether a value is the same in all workers of a process, as far as it is not made of others."""
    if isinstance(value, Made):
        return value.name in _SAME or isinstance(value.node, ast.Attribute)
    return isinstance(value, (Const, Name, Instance))


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


def _spoken_of(data: Instance) -> Iterator[str]:
    """Yields the names that the classes of an object, and of those that it keeps, speak of."""
    waiting = [one.kind for one in parts(data) if isinstance(one, Instance)]
    seen: set[int] = set()
    while waiting:
        kind = waiting.pop()
        if id(kind) in seen:
            continue
        seen.add(id(kind))
        waiting += [base for base in kind.bases if isinstance(base, Class)]
        yield from (getattr(node, "id", "") or getattr(node, "attr", "") for node in ast.walk(kind.kind))


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


def gpu_in_workers(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (what works on a GPU in a data worker, its loader), of workers that are forked."""
    for one in execution.events:
        loader = loader_around(one)
        if loader is None or "multiprocessing_context" in loader.keywords or not has_some_workers(loader):
            continue
        moves = one.name == ".cuda" or (one.name == ".to" and is_gpu(one.argument(0, "device")))
        if moves or any(_lies_on_gpu(each) for given in (one.owner, *one.args) for each in sources(given)):
            yield one, loader


def _lies_on_gpu(value: Value) -> bool:
    """Whether a value was made on a GPU."""
    if not isinstance(value, Made) or not value.name.startswith("torch."):
        return False
    return any(is_gpu(value.keywords.get(name)) for name in ("device", "map_location"))


def parted_by_rank_only(execution: Execution) -> Iterator[tuple[Made, Made]]:
    """Yields (share of the rank, loader) of a stream that asks for its worker, and parts nothing by it.

    The worker's number goes into nothing but seeds, so that each worker shuffles in its own order: what it reads is all
    that its rank has.
    """
    told: set[int] = set()
    for asked in execution.named(_WORKER_INFO):
        loader = loader_around(asked)
        data = loader.argument(0, "dataset") if loader is not None else None
        if loader is None or id(loader) in told or not isinstance(data, Instance) or not _has_several(loader):
            continue
        told.add(id(loader))
        if "worker_init_fn" in loader.keywords or loader.argument(4, "batch_sampler") or not _is_stream(data):
            continue
        if not _all_asked(data, execution):
            continue
        met = [
            each
            for one in execution.events
            if loader_around(one) is loader and one.name not in _SEEDERS and one.name != _WORKER_INFO
            for given in (one.owner, *one.args, *one.keywords.values(), *(two.test for two in one.guards),
                          *(loop.over for loop in one.loops))
            for each in _unseeded(given)
        ]  # fmt: skip
        if any(_is_of_worker(each) for each in met):
            continue
        share = next(
            (each for each in met if isinstance(each, Made) and _is_share(each) and each.node is not None), None
        )
        if share is not None:
            yield share, loader


def _is_stream(data: Instance) -> bool:
    return any(isinstance(base, Name) and base.name == _ITERABLE for base in data.kind.bases)


def _all_asked(data: Instance, execution: Execution) -> bool:
    """Whether each place in a class that asks for the worker was come to, and is in no generator of a library."""
    come_to = {id(one.node) for one in execution.named(_WORKER_INFO)}
    places = (node for node in ast.walk(data.kind.kind) if isinstance(node, ast.Call))
    return all(id(one) in come_to for one in places if ast.unparse(one.func).endswith("get_worker_info"))


def _has_several(loader: Made) -> bool:
    given = usual(loader.argument(5, "num_workers"))
    return isinstance(given, Const) and isinstance(given.value, int) and given.value > 1


def _is_of_worker(value: Value) -> bool:
    """Whether a value is the worker's number, or how many there are."""
    info = value.owner if isinstance(value, Made) and value.name in (".id", ".num_workers") else None
    return isinstance(info, Made) and info.name == _WORKER_INFO


def _is_share(value: Made) -> bool:
    """Whether a value takes each n-th from the rank's on: `islice(lines, rank, None, world)`, `files[rank::world]`."""
    if value.name not in ("slice", "itertools.islice"):
        return False
    begin, step = value.args[-3:][::2] if len(value.args) > 2 else (None, None)
    return begin is not None and asks_rank(begin) and not isinstance(step, Const)


def _unseeded(value: Value | None) -> Iterator[Value]:
    """Yields a value and what it was computed from, but for what went into a seed."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MOST_SEEN:
        one = waiting.pop()
        if one is None or id(one) in seen or (isinstance(one, Made) and one.name in _SEEDERS):
            continue
        seen.add(id(one))
        yield one
        waiting += made_of(one)


def loader_around(event: Event) -> Made | None:
    """Returns the DataLoader whose workers an event is in."""
    found = next((one for one in event.contexts if isinstance(one, Made) and one.name == WORKER), None)
    return found.owner if found is not None and isinstance(found.owner, Made) else None


def has_some_workers(loader: Made) -> bool:
    """Whether a loader has workers, by what is usual where an option says it."""
    given = usual(loader.argument(5, "num_workers"))
    return isinstance(given, Const) and isinstance(given.value, int) and given.value > 0


def parted_by_worker_only(execution: Execution) -> Iterator[tuple[Event | Made, Made]]:
    """Yields (share of a worker, loader) of a stream that workers part among them, and nothing among the ranks.

    Where the share has no place of its own it is the question which worker it is.
    """
    if not is_distributed(execution) or any(one.name in _DEALS for one in execution.events):
        return
    for asked in execution.named(_WORKER_INFO):
        loader = loader_around(asked)
        data = loader.argument(0, "dataset") if loader is not None else None
        if loader is None or not isinstance(data, Instance) or asked.value is None:
            continue
        inside = [one for one in execution.events if loader_around(one) is loader]
        values = [
            each
            for one in inside
            for given in (one.owner, *one.args, *one.keywords.values(), one.value, *(two.test for two in one.guards),
                          *(loop.over for loop in one.loops))
            for each in sources(given)
        ]  # fmt: skip
        shares = [one for one in values if isinstance(one, Made) and one.name in ("slice", "%", "itertools.islice")
                  and any(each is asked.value for each in sources(one))]  # fmt: skip
        if shares and not any(speaks_of_ranks(one) and not is_common_seed(one) for one in values):
            yield next((one for one in shares if one.node is not None and one.function is not None), asked), loader
