import os
import pathlib
import signal
import subprocess
import sys
import time

LIMIT_MIB = 700


def children(pid):
    try:
        return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def resident(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


def below(pid):
    for child in children(pid):
        yield child
        yield from below(child)


def main():
    job = subprocess.Popen(sys.argv[1:])
    while job.poll() is None:
        for pid in below(job.pid):
            if resident(pid) > LIMIT_MIB:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    sys.exit(job.returncode)


if __name__ == "__main__":
    main()
