import argparse
import os
import shutil
import socket
import subprocess
import sys

KEEP = ("PATH", "HOME", "LANG", "OMP_NUM_THREADS", "PYTHONPATH", "LD_LIBRARY_PATH")
PREFIXES = ("RANK", "LOCAL_", "WORLD_", "MASTER_ADDR", "JOB_")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def rank_env(rank, world, port, job):
    full = dict(os.environ)
    full.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(port), JOB_NAME=job)
    return {k: v for k, v in full.items() if k in KEEP or k.startswith(PREFIXES)}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--ranks", type=int, default=2)
    ap.add_argument("--job", default="tides")
    args, rest = ap.parse_known_args()
    port = free_port()
    shutil.rmtree(f"out-{args.job}", ignore_errors=True)
    os.makedirs(f"out-{args.job}")
    procs = []
    for r in range(args.ranks):
        cmd = [sys.executable, "-m", "tides.train", "--out", f"out-{args.job}", *rest]
        procs.append(subprocess.Popen(cmd, env=rank_env(r, args.ranks, port, args.job)))
    codes = [p.wait() for p in procs]
    print("exit codes", codes)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
