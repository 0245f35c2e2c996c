"""One line of a call path, and whose file it is in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Scalar = bool | int | float | None


class Owner(StrEnum):
    """Whose file a frame is in; `frame_owners.py` tells."""

    DOCTOR = "doctor"  # the agent's, or what runs in children of the doctor
    INTERPRETER = "interpreter"  # the standard library, and code without a file: <frozen runpy>, <string>
    LAUNCHER = "launcher"  # torchrun, accelerate launch, what starts ranks
    TORCH = "torch"
    PACKAGE = "package"  # any other that is installed
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a call path; `file` as Python knew it, so possibly relative to the process's start folder.

    Of a rank that was asked while it waited: `span` (line, end line, column, end column, as in `ast`) is the expression
    that it was in, `values` what its variables held: ("self.stop", True), ("len(batches)", 3).
    """

    file: str
    line: int
    function: str
    owner: Owner | None = field(default=None, compare=False, repr=False)  # None: nobody has looked, its name has to do
    span: tuple[int, int, int, int] | None = field(default=None, compare=False, repr=False)
    values: tuple[tuple[str, Scalar], ...] = field(default=(), compare=False, repr=False)
