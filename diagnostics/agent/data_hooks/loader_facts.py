"""What a loader and its sampler say of themselves, as "key=value" words."""

from __future__ import annotations

import os
import sys

from ..frames import is_library

GROUPS = "torch.distributed.distributed_c10d"


def group_exists():
    """Whether the default process group has been made."""
    groups = sys.modules.get(GROUPS)
    return groups is not None and groups.GroupMember.WORLD is not None


def facts_of(loader, sampler, group_at_loader, group_at_sampler, stages):
    """Returns "dataset=Samples length=1000 workers=2 ...". What cannot be told is left out."""
    dataset = loader.dataset
    iterable = getattr(loader, "_dataset_kind", 0) == 1
    batch_sampler = getattr(loader, "batch_sampler", None)
    generator = getattr(sampler, "generator", None)
    words = [
        ("dataset", type(dataset).__name__),
        ("kind", "iterable" if iterable else "map"),
        ("length", "" if iterable else _length(dataset)),
        ("batch_size", getattr(loader, "batch_size", None)),
        ("batches", _batches(batch_sampler, sampler)),
        ("workers", getattr(loader, "num_workers", 0)),
        ("drop_last", int(bool(getattr(loader, "drop_last", False)))),
        ("sampler", type(sampler).__name__),
        ("batch_sampler", type(batch_sampler).__name__),
        ("shuffle", _number(getattr(sampler, "shuffle", None))),
        ("replacement", _number(getattr(sampler, "replacement", None))),
        ("generator", "" if generator is None else "1"),
        ("follows_epoch", int(_follows_epoch(dataset if iterable else sampler)) or ""),
        ("persistent", int(bool(getattr(loader, "persistent_workers", False))) or ""),
        ("sampler_rank", _number(getattr(sampler, "rank", None))),
        ("num_replicas", _number(getattr(sampler, "num_replicas", None))),
        ("seed", _number(getattr(sampler, "seed", None))),
        ("group_at_loader", _number(group_at_loader)),
        ("group_at_sampler", _number(group_at_sampler)),
        ("world_at_iter", _world()),
        ("WORLD_SIZE", os.environ.get("WORLD_SIZE", "")[:9]),
        ("getitem", _place(_innermost(dataset), "__iter__" if iterable else "__getitem__")),
        ("collate", _place_of(getattr(loader, "collate_fn", None))),
        ("stages", stages),
    ]
    return " ".join("%s=%s" % (name, value) for name, value in words if value not in (None, ""))


def _innermost(dataset):
    """Returns the data set of the job's own behind torch's Subset and the like."""
    for _ in range(8):
        if not type(dataset).__module__.startswith("torch."):
            break
        inner = getattr(dataset, "dataset", None)
        if inner is None:
            inner = next(iter(getattr(dataset, "datasets", None) or ()), None)
        if inner is None:
            break
        dataset = inner
    return type(dataset)


def _place(owner, name):
    return _place_of(getattr(owner, name, None))


def _place_of(function):
    """Returns "/folder/file.py:12", where a function of the job's own is defined."""
    code = getattr(function, "__code__", None)
    if code is None or is_library(code.co_filename) or set(code.co_filename) & set(" ="):
        return ""
    return "%s:%d" % (code.co_filename, code.co_firstlineno)


def _length(dataset):
    try:
        return len(dataset)
    except Exception:
        return ""  # a dataset that cannot say


def _batches(batch_sampler, sampler):
    """Returns how many batches a pass has, where samplers of torch's own tell."""
    own = type(batch_sampler).__name__ == "BatchSampler" and type(sampler).__module__.startswith("torch.")
    return _length(batch_sampler) if own else None


def _follows_epoch(ordered):
    """Whether a sampler or stream of the job's own orders by what its set_epoch writes, and nothing is switched off."""
    codes = [getattr(getattr(type(ordered), name, None), "__code__", None) for name in ("__iter__", "set_epoch")]
    if None in codes:
        return False
    read, written = map(_names_in, codes)
    own = getattr(ordered, "__dict__", {})
    return bool(read & written & set(own)) and not any(
        own[name] is False or own[name] is None for name in read & set(own)
    )


def _names_in(code):
    """Returns the names that a function reads, those of its comprehensions and inner functions, too."""
    inner = [one for one in code.co_consts if isinstance(one, type(code))]
    return set(code.co_names).union(*map(_names_in, inner))


def _number(value):
    return int(value) if type(value) in (int, bool) else None


def _world():
    groups = sys.modules.get(GROUPS)
    return groups.get_world_size() if group_exists() else None
