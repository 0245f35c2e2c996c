"""Finds a case that fails: as asked first; where nothing was asked for, other ways of training the same model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.found import Attempt
from diagnostics.bisection.trial import Oracle
from diagnostics.bisection.wanted import BisectionRequest

EVERYTHING_ON: dict[str, Any] = {"amp": "bfloat16", "accumulate": 2, "checkpointing": True, "workers": 2, "threads": 2}


def look_for_failure(wanted: BisectionRequest, oracle: Oracle, *, gpus: int = 0) -> Iterator[Attempt]:
    """Yields what was tried, up to the first that fails; stops early where a case as asked is refused."""
    for case in wanted.cases:
        asked = Attempt(way=way_of(case), trial=oracle.ask(case, way_of(case)), asked=True)
        yield asked
        if asked.fails or asked.trial.refusal:
            return
    for case in wanted.cases:
        for changes in others(wanted.named, gpus):
            other = case.set(**changes)
            attempt = Attempt(way=way_of(other), trial=oracle.ask(other, way_of(other)))
            yield attempt
            if attempt.fails:
                return


def others(named: Mapping[str, Any], gpus: int) -> Iterator[dict[str, Any]]:
    """Yields other settings to try, none of which the user has named."""
    for changes in _ways(gpus):
        free = {name: value for name, value in changes.items() if name not in named}
        if free and ("wrapper" not in changes or "wrapper" in free):
            yield free


def _ways(gpus: int) -> Iterator[dict[str, Any]]:
    yield EVERYTHING_ON
    yield from ({"wrapper": wrapper} for wrapper in ("fsdp2", "fsdp1", "none", "fabric"))
    if gpus:
        yield {"device": "cuda", "backend": "nccl", "world": min(2, gpus)}
    yield {"compile": True}


def way_of(case: Configuration) -> str:
    """Returns a case's settings in words: those that are always told, and those that are not the simplest."""
    one = case.settings
    wrapper = "no wrapper" if one.wrapper == "none" else one.wrapper
    words = [wrapper, f"{one.world} rank{'s' * (one.world > 1)}", f"{one.backend} on {one.device}"]
    words += [f"amp {one.amp}"] if one.amp else []
    words += ["compile"] if one.compile else []
    words += [f"accumulate {one.accumulate}"] if one.accumulate > 1 else []
    words += ["checkpointing"] if one.checkpointing else []
    words += [f"{one.workers} workers"] if one.workers else []
    words += [f"{one.threads} threads"] if one.threads > 1 else []
    words += [f"{name}={value}" for name, value in (*one.options, *one.env)]
    stage = [case.source.stage] if case.source.stage else []
    return ", ".join([*stage, *words])


def failing(attempts: Sequence[Attempt]) -> Attempt | None:
    """Returns the attempt that fails, if one does."""
    return next((one for one in attempts if one.fails), None)
