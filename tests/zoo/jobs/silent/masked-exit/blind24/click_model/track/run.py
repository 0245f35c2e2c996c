import json
import time


class Run:
    """Collects the scalars of one run and writes them when it ends."""

    def __init__(self, path, **config):
        self.path, self.config, self.rows = path, config, []

    def __enter__(self):
        self.started = time.time()
        return self

    def scalar(self, step, **values):
        self.rows.append(dict(step=step, **values))

    def finish(self):
        with open(self.path, "w") as out:
            json.dump({"config": self.config, "seconds": time.time() - self.started, "rows": self.rows}, out)
        return self

    def __exit__(self, kind, value, traceback):
        return self.finish()
