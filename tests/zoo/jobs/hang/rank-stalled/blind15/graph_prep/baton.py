import logging
import os
import time
from contextlib import contextmanager

log = logging.getLogger("baton")


class Baton:
    """One process builds, the others wait till the file has gone."""

    def __init__(self, path, poll=0.2):
        self.path, self.poll = path, poll
        self.fd = None

    def try_take(self):
        try:
            self.fd = os.open(self.path, os.O_CREAT | os.O_EXCL)
            return True
        except FileExistsError:
            return False

    def wait(self):
        while os.path.exists(self.path):
            time.sleep(self.poll)

    def give(self):
        os.close(self.fd)
        os.remove(self.path)


@contextmanager
def exclusive(path):
    baton = Baton(path)
    while not baton.try_take():
        log.debug("%s is taken", path)
        baton.wait()
    try:
        yield
    finally:
        baton.give()
