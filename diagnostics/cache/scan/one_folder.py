"""The checks across the files of a folder."""

from __future__ import annotations

from functools import cache
from typing import cast

from diagnostics.cache import folder_checks
from diagnostics.cache.folder_check import AcrossCheck
from diagnostics.core.registry import discover


@cache
def checks() -> tuple[AcrossCheck, ...]:
    """Returns the known checks, by code."""
    return tuple(cast("AcrossCheck", module) for module in discover(folder_checks).values())
