from concurrent.futures import ThreadPoolExecutor


class Pipeline:
    """Stages run in the background; the foreground keeps the terminal alive."""

    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=1)
        self.stages = []

    def add(self, name, fn, *args):
        self.stages.append((name, self.pool.submit(fn, *args)))

    def wait(self, rank):
        self.pool.shutdown(wait=True)
        for name, future in self.stages:
            if rank == 0:
                print(f"stage {name}: {'done' if future.done() else 'running'}", flush=True)
