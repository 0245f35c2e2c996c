"""How often a healthy DDP job aborts at interpreter exit, bare and watched, in pairs.

    python tests/benchmarks/teardown_aborts.py [--pairs 50]

torch 2.13 on gloo aborts some jobs that end right after their last step ("terminate called without an active
exception"). Being watched must not change how many: the two counts are printed with the probability (Fisher's exact
test, two-sided) of a difference at least as large where there is none. Goal: no evidence of a difference (p > 0.05).
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from diagnostics.record.record import agent_environment, make_record_folder

JOB = """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.ones(4, 8)).square().mean().backward()
    optimizer.step()
print("steps done", flush=True)
"""
DEADLINE_S = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=50)
    pairs = parser.parse_args().pairs
    aborts = {"bare": 0, "watched": 0}
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job.py")
        job.write_text(JOB)
        for pair in range(pairs):
            for name in sorted(aborts, reverse=bool(pair % 2)):
                records = make_record_folder(Path(folder, f"{name}-{pair}"))
                extra = agent_environment(records, flight=True) if name == "watched" else {}
                aborts[name] += aborted(job, extra)
            print(f"\r{pair + 1} pairs: {aborts['bare']} bare, {aborts['watched']} watched", end="", file=sys.stderr)
    print(file=sys.stderr)
    chance = fisher(aborts["bare"], aborts["watched"], pairs)
    print(f"aborts of {pairs} jobs each: bare {aborts['bare']}, watched {aborts['watched']}; p = {chance:.2f}")
    return chance <= 0.05


def aborted(job: Path, extra: dict[str, str]) -> bool:
    """Runs the job on two ranks; whether one of them was aborted. Any other failure ends the benchmark."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, **extra, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    ranks = [
        subprocess.Popen(
            [sys.executable, job],
            env={**shared, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [rank.communicate(timeout=DEADLINE_S) for rank in ranks]
    for rank, (out, err) in zip(ranks, said, strict=True):
        if "steps done" not in out or rank.returncode not in (0, -6):
            sys.exit(f"the job failed by itself with {rank.returncode}:\n{err}")
    return any(rank.returncode == -6 for rank in ranks)


def fisher(first: int, second: int, each: int) -> float:
    """Returns the two-sided p-value of Fisher's exact test for `first` and `second` hits of `each`."""
    total = first + second
    ways = [math.comb(each, hits) * math.comb(each, total - hits) for hits in range(total + 1)]
    return sum(way for way in ways if way <= ways[first]) / sum(ways)


if __name__ == "__main__":
    sys.exit(main())
