"""Starts ranks with a minimal environment, so that a developer's shell does not leak into the runs."""
import os
import subprocess
import sys

KEEP = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "OMP_NUM_THREADS", "USER")


class Launcher:
    def __init__(self, size, port):
        self.size = size
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", str(port))
        self.base = {k: os.environ[k] for k in KEEP if k in os.environ}

    def environment(self, rank):
        return {**self.base, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(self.size)}

    def run(self, argv):
        crew = [subprocess.Popen([sys.executable, *argv], env=self.environment(r)) for r in range(self.size)]
        return max(abs(p.wait()) for p in crew)


if __name__ == "__main__":
    sys.exit(Launcher(2, 29789).run(sys.argv[1:] or ["-m", "app.train"]))
