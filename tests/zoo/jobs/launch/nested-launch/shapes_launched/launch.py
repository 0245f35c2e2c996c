"""Start one trainer per device and wait for them.   python launch.py --n 2 train.py [ARGS]"""
import argparse
import os
import socket
import subprocess
import sys
import time


def pick_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(script, script_args, n):
    port = pick_port()
    procs = []
    for rank in range(n):
        env = dict(
            os.environ,
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(n),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            OMP_NUM_THREADS="1",
        )
        procs.append(subprocess.Popen([sys.executable, "-u", script, *script_args], env=env))
    return procs


def wait(procs):
    while any(p.poll() is None for p in procs):
        failed = [p for p in procs if p.poll() not in (None, 0)]
        if failed:
            for p in procs:
                if p.poll() is None:
                    p.terminate()
            for p in procs:
                p.wait()
            return 1
        time.sleep(0.1)
    return max(abs(p.returncode) for p in procs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=2)
    parser.add_argument("script")
    parser.add_argument("script_args", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    sys.exit(wait(start(args.script, args.script_args, args.n)))
