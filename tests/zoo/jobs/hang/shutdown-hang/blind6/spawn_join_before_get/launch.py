import socket

import torch.multiprocessing as mp

from job import worker


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_job(config, nprocs):
    results = mp.get_context("spawn").Queue()
    mp.spawn(worker, args=(nprocs, free_port(), config, results), nprocs=nprocs, join=True)
    return results.get()
