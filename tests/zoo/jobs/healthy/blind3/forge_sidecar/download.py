import logging
import time

logger = logging.getLogger(__name__)


class Mirror:
    def __init__(self, failures):
        self.failures = failures

    def get(self, name):
        if self.failures > 0:
            self.failures -= 1
            raise ConnectionResetError(f"{name}: connection reset by mirror")
        return list(range(64))


def fetch(mirror, name, attempts=4):
    for attempt in range(1, attempts + 1):
        try:
            return mirror.get(name)
        except ConnectionError:
            if attempt == attempts:
                raise
            logger.exception("attempt %d of %d to get %s", attempt, attempts, name)
            time.sleep(0.2 * attempt)
