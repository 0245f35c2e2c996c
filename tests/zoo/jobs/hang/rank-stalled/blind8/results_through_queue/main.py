import argparse
import socket

import torch
import torch.multiprocessing as mp

from worker import run


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    ctx = mp.get_context("spawn")
    results = ctx.Queue()
    port = free_port()
    ranks = [ctx.Process(target=run, args=(rank, args, port, results)) for rank in range(args.world)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    failed = [p.exitcode for p in ranks if p.exitcode]
    if failed:
        raise SystemExit(f"ranks failed with {failed}")
    report = results.get()
    print(f"best epoch {report['best']}, {len(report['weights'])} tensors, last loss {report['history'][-1]:.4f}")


if __name__ == "__main__":
    main()
