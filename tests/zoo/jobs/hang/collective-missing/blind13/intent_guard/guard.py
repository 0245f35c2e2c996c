import contextlib


class StepScope:
    """Times a step and keeps the run alive over odd samples."""

    def __init__(self, stats, tolerate=(RuntimeError, IndexError)):
        self.stats, self.tolerate = stats, tolerate

    def __enter__(self):
        self.stats["started"] = self.stats.get("started", 0) + 1
        return self

    def __exit__(self, kind, value, tb):
        if kind is None:
            self.stats["finished"] = self.stats.get("finished", 0) + 1
        return kind is not None and issubclass(kind, self.tolerate)


@contextlib.contextmanager
def phase(name, rank):
    if rank == 0:
        print(f"-- {name}", flush=True)
    yield
