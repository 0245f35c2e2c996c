"""Which signal asked the running command to stop: what was found until then is told with the exit code by it."""

from __future__ import annotations

import signal

_asked: list[signal.Signals] = [signal.SIGINT]


def asked(number: signal.Signals) -> None:
    """Remembers the signal."""
    _asked[0] = number


def number() -> signal.Signals:
    """Returns the last one, SIGINT where there was none."""
    return _asked[0]


def interrupted_exit() -> int:
    """Returns 130 for Ctrl-C, 143 for SIGTERM, 129 for a hang-up."""
    return 128 + _asked[0]
