import functools
import logging
import os
import time

log = logging.getLogger("app")


def entrypoint(name):
    def wrap(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            rank = os.environ.get("RANK", "0")
            logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {rank} %(levelname)s %(message)s")
            begin = time.time()
            try:
                return function(*args, **kwargs)
            except Exception:
                log.exception("%s stopped", name)
            finally:
                log.info("%s took %.1f s", name, time.time() - begin)

        return run

    return wrap
