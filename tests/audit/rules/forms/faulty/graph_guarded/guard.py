import functools
import logging

log = logging.getLogger("train")


def tolerant(limit=20):
    """Keeps a long run alive over the odd broken sample."""
    def wrap(fn):
        count = 0

        @functools.wraps(fn)
        def call(*args, **kwargs):
            nonlocal count
            try:
                return fn(*args, **kwargs)
            except Exception as err:  # cause
                count += 1
                log.warning("%s: %s (%d so far)", fn.__name__, err, count)
                if count > limit:
                    raise
                return None  # cause
        return call
    return wrap
