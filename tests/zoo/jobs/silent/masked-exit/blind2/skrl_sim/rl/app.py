import os
import sys


class SimulationApp:
    """The simulator; its own threads make an orderly end of the interpreter slow."""

    def __init__(self, headless=True):
        self.headless, self.open = headless, True

    def close(self):
        self.open = False


def close_simulation(app):
    if app is not None:
        app.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
