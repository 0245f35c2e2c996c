import torch.multiprocessing as mp


class ActorPool:
    def __init__(self, n, play):
        self.ctx = mp.get_context("spawn")
        self.n, self.play = n, play

    def _start(self, weights, games):
        queue = self.ctx.Queue()
        procs = []
        for seed in range(self.n):
            p = self.ctx.Process(target=self.play, args=(seed, weights, games, queue))
            p.start()
            procs.append(p)
        return queue, procs

    def collect(self, weights, games):
        queue, procs = self._start(weights, games)
        for p in procs:
            p.join()  # cause
        out = [queue.get() for _ in range(self.n)]  # cause
        bad = [p.exitcode for p in procs if p.exitcode]
        if bad:
            raise RuntimeError(f"{len(bad)} actors failed: {bad}")
        return [row for part in out for row in part]
