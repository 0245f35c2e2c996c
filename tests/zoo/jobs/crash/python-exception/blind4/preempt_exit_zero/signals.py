"""Handlers that run one after the other."""
import signal
import sys


def chain_signal_handler(signum, first):
    """Calls first, then whatever was there before, then leaves."""
    previous = signal.getsignal(signum)

    def handler(number, frame):
        first(number)
        if callable(previous):
            previous(number, frame)
        sys.exit(0)

    signal.signal(signum, handler)
    return previous
