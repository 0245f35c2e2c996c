import logging
import socket
from concurrent.futures import ThreadPoolExecutor, wait

import torch.multiprocessing as mp

from stable_ssl.worker import train

log = logging.getLogger(__name__)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scheduler:
    """Runs trials in a pool of threads; every trial is a small distributed job."""

    def __init__(self, world_size=2, parallel=1):
        self.world_size = world_size
        self.pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="trial")
        self.futures = {}

    def _run(self, name, params):
        log.info("%s starts with %s", name, params)
        args = (self.world_size, free_port(), name, params)
        mp.start_processes(train, args=args, nprocs=self.world_size, start_method="fork")

    def submit(self, name, params):
        self.futures[name] = self.pool.submit(self._run, name, params)

    def drain(self):
        done, pending = wait(self.futures.values())
        self.pool.shutdown()
        return len(done), len(pending)
