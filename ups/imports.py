"""Imports of torch, a fifth faster."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Looks for no garbage meanwhile, nor later in what was made: what is imported stays."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@functools.cache
def import_compiler() -> None:
    """Imports torch's compiler, a second's work that the first optimizer would ask for.

    Once, and before there is a model: what is frozen with it, a model of the stage before say, would stay for ever.
    """
    with without_garbage_collection():
        import torch._dynamo  # noqa: F401
