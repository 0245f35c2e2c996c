"""Imports of torch that it puts off itself."""

from __future__ import annotations

import functools

from diagnostics.api import without_garbage_collection


@functools.cache
def import_compiler() -> None:
    """Imports torch's compiler, a second's work that the first optimizer would ask for.

    Once, and before there is a model: what is frozen with it, a model of the stage before say, would stay for ever.
    """
    with without_garbage_collection():
        import torch._dynamo  # noqa: F401
