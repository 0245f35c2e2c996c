import functools
import logging
import os
import time


def setup_logging(rank, directory="logs"):
    os.makedirs(directory, exist_ok=True)
    logging.basicConfig(filename=os.path.join(directory, f"rank{rank}.log"), level=logging.INFO,
                        format="%(asctime)s %(levelname)s %(message)s", filemode="w")


def monitored(stage):
    """Logs begin, end and duration of a stage, so that the dashboard can draw it."""
    logger = logging.getLogger(stage)

    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            begin = time.monotonic()
            logger.info("begin")
            try:
                return function(*args, **kwargs)
            except Exception:
                logger.exception("failed")
            finally:
                logger.info("end after %.1f s", time.monotonic() - begin)
        return inner
    return wrap
