"""What is asked of a parity experiment, and the precision in which two numbers count as the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Form(StrEnum):
    """What kind of program is compared."""

    MADE = "made"  # MODULE:make, in a loop of ours
    SCRIPT = "script"  # the user's own program, as it is
    ADAPTER = "adapter"  # a trainer's CONFIG


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityRequest:
    """One experiment; `argv` is what each rank runs, for MADE nothing."""

    form: Form
    name: str
    python: str
    nproc: int = 2
    steps: int = 3
    dtype: str = ""  # float64, float32, "" for float64 where the program can
    make: str = ""
    argv: tuple[str, ...] = ()
    own_launch: bool = False  # the program starts its ranks by itself: {nproc} stands in argv
    wrap: str = "ddp"
    accumulate: int = 0
    compiled: bool = False
    amp: str = ""
    deadline_s: float = 120.0
    backend: str = "gloo"
    strict: bool = False  # notes count as differences


class Precision(NamedTuple):
    """Two numbers are the same up to `tolerance`; what is smaller than `floor` of the largest number is rounding."""

    tolerance: float
    floor: float


PRECISIONS = {
    "float64": Precision(1e-9, 1e-6),
    "float32": Precision(1e-4, 1e-2),
    "bfloat16": Precision(5e-2, 1e-1),
    "float16": Precision(5e-2, 1e-1),
}


def precision_of(dtype: str, *, autocast: bool) -> Precision:
    """Returns what counts as the same for parameters of this type; autocast computes in 8 bits of mantissa."""
    return PRECISIONS["bfloat16"] if autocast else PRECISIONS.get(dtype, PRECISIONS["float32"])
