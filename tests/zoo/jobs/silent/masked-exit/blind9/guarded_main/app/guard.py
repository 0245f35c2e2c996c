import functools
import logging

log = logging.getLogger("app")


def guarded(fn):
    @functools.wraps(fn)
    def call(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            log.debug("stopped: %s", error, exc_info=True)
            return None

    return call
