"""A limit for decoders that may take for ever."""
import contextlib
import signal


class DecodeTimeout(Exception):
    pass


def _on_alarm(signum, frame):
    raise DecodeTimeout("decoding took too long")


@contextlib.contextmanager
def time_limit(seconds):
    previous = signal.signal(signal.SIGALRM, _on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, previous)
