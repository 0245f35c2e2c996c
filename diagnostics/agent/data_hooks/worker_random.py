"""Random states with which batches are fetched: equal ones in two workers give both the same augmentations.

Looked at before the first batches and after each of them, and only read: a state that has moved with each batch was
drawn from. Tells of Python's, NumPy's and torch's own, and of generators that the data set holds.
"""

from __future__ import annotations

import functools
import random
import sys

from ..torch_hooks import random_states

FETCH = "torch.utils.data._utils.fetch"
STREAM = "_IterableDatasetFetcher"
LOOKS = 3  # batches of a worker after which its states are looked at
MOST_HELD = 8  # generators of one data set


def watch(agent):
    """Wraps the fetching of batches, in workers and in processes that fetch for themselves."""
    module = sys.modules[FETCH]
    workers, told = sys.modules["torch"].utils.data.get_worker_info, set()
    for name in ("_MapDatasetFetcher", STREAM):
        owner = getattr(module, name, None)
        if owner is not None:
            owner.fetch = _wrapped(owner.fetch, agent, workers, told)


def _wrapped(original, agent, workers, told):
    @functools.wraps(original)
    def fetch(self, possibly_batched_index):
        looks = vars(self).get("_ups_doctor_looks")
        if looks is None:
            looks = _begin(self, workers, told)
        batch = original(self, possibly_batched_index)
        if looks:
            _go_on(self, agent, looks, workers)
        return batch

    return fetch


def _begin(fetcher, workers, told):
    """Returns the states before the first batch, as the first of a list; an empty one where they were told before."""
    try:
        key = workers() is None and type(fetcher.dataset)
        looks = [] if key in told else [_states(fetcher.dataset)]
        if key:  # a worker is a process of its own, in each epoch as a rule
            told.add(key)
    except Exception:
        looks = []  # nothing is known of these numbers
    fetcher._ups_doctor_looks = looks
    return looks


def _go_on(fetcher, agent, looks, workers):
    try:
        looks.append(_states(fetcher.dataset))
        if len(looks) > LOOKS:
            _tell(agent, fetcher, looks, workers())
            fetcher._ups_doctor_looks = []
    except Exception:
        fetcher._ups_doctor_looks = []


def _tell(agent, fetcher, looks, info):
    """Writes the first states of those generators that moved with each batch; of a stream those after the first."""
    # What a stream does once it is asked for its first sample comes after the first look: a seed of the worker's own.
    first = looks[1 if type(fetcher).__name__ == STREAM else 0]
    moved = [
        "%s:%08x" % (name, state)
        for name, state in first.items()
        if all(name in then and then[name] != now.get(name) for then, now in zip(looks, looks[1:]))  # noqa: B905, RUF007
    ]
    ident, count = (info.id, info.num_workers) if info is not None else (0, 0)
    text = "worker=%d workers=%d dataset=%s" % (ident, count, type(fetcher.dataset).__name__)
    agent.event("worker-random", " ".join([text, *moved]))


def _states(dataset):
    """Returns a number for the state of each generator, by its name."""
    numpy, torch = sys.modules.get("numpy"), sys.modules["torch"]
    found = {"random": random_states.checksum(repr(random.getstate()).encode())}
    if numpy is not None and hasattr(numpy, "random"):
        found["numpy.random"] = random_states.state_of(numpy.random)
    found["torch"] = random_states.state_of(torch.default_generator)
    for name, generator in _held(dataset):
        found[name] = random_states.state_of(generator)
    return found


def _held(dataset):
    """Returns (name, generator) of those that a data set, what it wraps or a transform of it has as attributes."""
    kinds = random_states.kinds()
    found, waiting = [], [("", dataset, 0)]
    while waiting and len(found) < MOST_HELD:
        prefix, thing, depth = waiting.pop()
        for name, value in list(getattr(thing, "__dict__", {}).items())[:64]:
            if isinstance(value, kinds):
                found.append((prefix + name, value))
            elif depth < 2 and type(value).__module__ not in ("builtins", "torch", "numpy"):
                waiting.append((prefix + name + ".", value, depth + 1))
            elif depth < 2 and type(value) in (list, tuple):
                waiting.extend(("%s%s.%d." % (prefix, name, at), one, depth + 1) for at, one in enumerate(value[:8]))
    return found
