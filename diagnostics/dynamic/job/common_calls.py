"""Where the ways of several ranks, or of one, last lay in one call of one function. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnostics.core.frame import Frame


def last_common_call(path: Sequence[Frame], others: Iterable[Sequence[Frame]]) -> int | None:
    """Returns which frame of a call path, innermost first, is in the innermost call that another path passed, too.

    That frame's line is where the paths part; the calls outside of it are at the same lines in both.
    """
    seen = {(one.file, one.function, tuple(other[at + 1 :])) for other in others for at, one in enumerate(other)}
    common = (at for at, one in enumerate(path) if (one.file, one.function, tuple(path[at + 1 :])) in seen)
    return next(common, None)
