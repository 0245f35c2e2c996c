"""What ranks read from their loaders, put together by hand: passes, batches and prints of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hand_made as made

from diagnostics.dynamic.job.job import JobProcess
from diagnostics.record.batch_data import BatchPrint, BatchSource, LoaderPass, SourceKind

ROWS = 4
FACTS = {"dataset": "Songs", "kind": "map", "length": "400", "batch_size": "4", "workers": "0"}
DDP = "how=ddp ranks=0-1"


def batch(number: int, samples: Sequence[int], **fields: Any) -> BatchPrint:
    """Returns a batch of these samples, which a model in training was given whole."""
    known = {
        "number": number, "rows": len(samples), "whole": hash(tuple(samples)) & (1 << 64) - 1,
        "listed": hash(("i", *samples)) & (1 << 64) - 1, "at_s": 0.1 * number, "samples": tuple(samples),
        "indices": tuple(samples), "given": len(samples), "constant": False, "unread": False, "trained": True,
        "evaluated": False,
    }  # fmt: skip
    return BatchPrint(**{**known, **fields})


def one_pass(number: int, samples: Sequence[int], rows: int = ROWS, **fields: Any) -> LoaderPass:
    """Returns a pass that handed over these samples, in this order, and was trained on.

    `given`, `trained_batches` and `constant` are of each batch of it.
    """
    given = {name: fields.pop(name) for name in ("given", "trained_batches", "constant") if name in fields}
    if "trained_batches" in given:
        given["trained"] = given.pop("trained_batches")
    log = tuple(
        batch(at, samples[first : first + rows], **given) for at, first in enumerate(range(0, len(samples), rows))
    )
    known = {
        "number": number, "batches": len(log), "printed": len(log), "rows": len(samples), "order": hash(tuple(samples)),
        "total": hash(frozenset(samples)), "index_order": hash(("i", *samples)),
        "indexed": True, "epoch": None, "epoch_now": None, "ended": True,
        "steps": len(log), "optimizer": 1, "trained": sum(one.trained for one in log), "own_epoch_calls": 0,
        "other_epoch_calls": 0, "epoch_path": (), "began_s": 1.0 + number, "log": log,
    }  # fmt: skip
    return LoaderPass(**{**known, **fields})


def source(*passes: LoaderPass, at: str = "train.py:3", sampler_at: str = "", **facts: str) -> BatchSource:
    """Returns the loader that was built at this line."""
    return BatchSource(
        kind=SourceKind.INPUT if facts.get("kind") == "input" else SourceKind.LOADER,
        built=made.frames(at),
        sampler=made.frames(sampler_at) if sampler_at else (),
        facts={**FACTS, **facts},
        passes=passes,
    )


def rank(
    number: int, *sources: BatchSource, shares: str = DDP, events: Sequence[Any] = (), **fields: Any
) -> JobProcess:
    """Returns a rank that read from these loaders and shares its gradients in this group."""
    told = [*([made.event("gradient-group", shares)] if shares else []), *events]
    agent = made.agent(*told, pid=100 + number, steps=20, sources=sources, **fields)
    return made.a_process(100 + number, rank=number, code=0, agent=agent)
