"""Starts the ranks and puts an end to those that have stopped beating, so that the queue slot is not wasted."""
import argparse
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

log = logging.getLogger("supervise")


class Rank:
    def __init__(self, rank, opts):
        self.rank, self.beat = rank, Path(opts.beats) / f"rank{rank}"
        self.beat.parent.mkdir(exist_ok=True)
        self.beat.touch()
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(opts.ranks), LOCAL_RANK=str(rank),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(opts.port), BEAT_FILE=str(self.beat))
        self.process = subprocess.Popen([sys.executable, *opts.script], env=env)

    def age(self):
        return time.time() - self.beat.stat().st_mtime

    def running(self):
        return self.process.poll() is None


class Guard:
    def __init__(self, ranks, limit):
        self.ranks, self.limit = ranks, limit

    def watch(self):
        while any(r.running() for r in self.ranks):
            time.sleep(0.5)
            for r in self.ranks:
                if r.running() and r.age() > self.limit:
                    log.error("rank %d: no beat for %.0f s", r.rank, r.age())
                    os.kill(r.process.pid, signal.SIGKILL)
        return [r.process.returncode for r in self.ranks]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--limit", type=float, default=20.0)
    p.add_argument("--port", type=int, default=29797)
    p.add_argument("--beats", default="beats")
    p.add_argument("script", nargs=argparse.REMAINDER)
    opts = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="supervise: %(message)s")
    codes = Guard([Rank(r, opts) for r in range(opts.ranks)], opts.limit).watch()
    log.info("exit codes %s", codes)
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
