import concurrent.futures as cf
import os

import torch


def _store(state, path):
    tmp = path + ".part"
    torch.save(state, tmp)
    os.replace(tmp, path)
    return path


class SnapshotPool:
    """Stores snapshots beside the training; at most `pending` at a time."""

    def __init__(self, root, pending=2):
        self.root = root
        self.pool = cf.ThreadPoolExecutor(1, thread_name_prefix="snap")
        self.pending = pending
        self.jobs = []

    def put(self, state, tag):
        while len(self.jobs) >= self.pending:
            self.jobs.pop(0).result()
        self.jobs.append(self.pool.submit(_store, state, os.path.join(self.root, tag + ".pt")))

    def drain(self):
        for j in self.jobs:
            j.result()
        self.pool.shutdown()
