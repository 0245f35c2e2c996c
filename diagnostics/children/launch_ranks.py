"""Starts a program N times, as the ranks of one job: `python -I -S launch_ranks.py N PROGRAM [ARGUMENT...]`.

Standard library only, syntax of Python 3.8. Where a rank fails, the others get GRACE_S to say so themselves and are
then ended. The exit code is that of the rank that failed first, 128 + N where signal N ended it. No rank outlives it.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
GRACE_S = 8.0  # a peer that lost a connection says so within seconds
LAST_GRACE_S = 3.0


def main(nproc, argv):
    """Runs the ranks and returns the exit code."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    ranks = [start(argv, rank, nproc, port) for port in [free_port()] for rank in range(nproc)]
    try:
        return follow(ranks)
    finally:
        end(ranks)


def start(argv, rank, nproc, port):
    """Starts one rank, which dies with this process."""
    values = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": nproc, "LOCAL_WORLD_SIZE": nproc, "MASTER_PORT": port}
    named = {name: str(value) for name, value in values.items()}
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", **named)
    return subprocess.Popen(argv, env=env, preexec_fn=die_with_parent)


def die_with_parent():
    """Has the kernel kill this process when the launcher ends (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def free_port():
    """Returns a TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def follow(ranks):
    """Waits until every rank has ended, or until the grace after the first failure is over."""
    failed, until = 0, float("inf")
    waiting = list(ranks)
    while waiting and time.monotonic() < until:
        for one in [one for one in waiting if one.poll() is not None]:
            waiting.remove(one)
            if one.returncode and not failed:
                failed, until = shell_code(one.returncode), time.monotonic() + GRACE_S
        time.sleep(0.02)  # no call waits for the first of several children and a clock on every system
    return failed


def shell_code(returncode):
    """Returns an exit code as a shell says it."""
    return returncode if returncode > 0 else 128 - returncode


def end(ranks):
    """Ends the ranks that are left."""
    for one in ranks:
        if one.poll() is None:
            one.terminate()
    until = time.monotonic() + LAST_GRACE_S
    for one in ranks:
        try:
            one.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
