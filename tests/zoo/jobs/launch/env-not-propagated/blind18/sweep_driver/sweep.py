import argparse
import itertools
import json
import os
import socket
import subprocess
import sys

KEEP = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
FORWARD = ("OMP_", "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_", "LOCAL_")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Trial:
    def __init__(self, index, params, nproc):
        self.index, self.params, self.nproc = index, params, nproc

    def rank_env(self, rank, port):
        full = dict(os.environ)
        full.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(self.nproc))
        if self.nproc > 1:
            full["LOCAL_RANK"] = str(rank)
            full["GROUP_RANK"] = "0"
        full["TRIAL_RANK"] = str(rank)
        return {k: v for k, v in full.items() if k in KEEP or k.startswith(FORWARD)}

    def run(self):
        port = free_port()
        cmd = [sys.executable, "fit.py", "--params", json.dumps(self.params)]
        procs = [subprocess.Popen(cmd, env=self.rank_env(r, port)) for r in range(self.nproc)]
        codes = [p.wait() for p in procs]
        return max(abs(c) for c in codes)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--nproc", type=int, default=2)
    a = ap.parse_args()
    grid = [{"lr": lr, "width": w} for lr, w in itertools.product([0.01, 0.003], [32])]
    bad = 0
    for i, params in enumerate(grid):
        code = Trial(i, params, a.nproc).run()
        print(f"trial {i} {params} -> {code}", flush=True)
        bad = bad or code
    return bad


if __name__ == "__main__":
    sys.exit(main())
