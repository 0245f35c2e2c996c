"""A wall clock limit around answer checking, which may blow up on odd expressions."""
import functools
import signal


class TooSlow(Exception):
    pass


def _raise(signum, frame):
    raise TooSlow()


def limit(seconds):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            previous = signal.signal(signal.SIGALRM, _raise)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                result = fn(*args, **kwargs)
                signal.setitimer(signal.ITIMER_REAL, 0)
                return result
            except (ValueError, ZeroDivisionError, SyntaxError):
                return False
            finally:
                signal.signal(signal.SIGALRM, previous)
        return inner
    return wrap
