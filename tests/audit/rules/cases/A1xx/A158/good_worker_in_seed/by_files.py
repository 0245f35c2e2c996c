import itertools
import json
import random

from torch.utils.data import IterableDataset, get_worker_info


class Captions(IterableDataset):
    def __init__(self, paths, rank, world):
        self.paths, self.rank, self.world = paths, rank, world
        self.epoch = 0

    def _own_paths(self):
        info = get_worker_info()
        return self.paths if info is None else self.paths[info.id :: info.num_workers]

    def _lines(self):
        for path in self._own_paths():
            with open(path) as file:
                yield from file

    def _mine(self):
        return itertools.islice(self._lines(), self.rank, None, self.world)

    def _shuffled(self):
        info = get_worker_info()
        rng = random.Random(hash((self.epoch, self.rank, info.id if info else 0)))
        pool = []
        for line in self._mine():
            if len(pool) < 1000:
                pool.append(line)
                continue
            i = rng.randrange(1000)
            line, pool[i] = pool[i], line
            yield line
        rng.shuffle(pool)
        yield from pool

    def __iter__(self):
        for line in self._shuffled():
            yield json.loads(line)
