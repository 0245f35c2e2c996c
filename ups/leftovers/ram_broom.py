"""Removes a copy of the latent cache once nobody reads it: `python -I -S ram_broom.py COPY RAM_DISK PACKAGES...`.

Each reader holds the copy's lock, which the kernel takes from it with its life. PACKAGES is where `ups` is found.
"""

import fcntl
import os
import signal
import sys

copy, ram_disk, *packages = sys.argv[1:]
CLEAN = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from ups.data import ram_disk
ram_disk.clean(Path(sys.argv[1]))
"""

for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM"):
    signal.signal(signal.Signals["SIG" + name], signal.SIG_IGN)  # a scheduler may send them to all processes of a job
try:
    descriptor = os.open(copy, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
except FileNotFoundError:
    sys.exit()
fcntl.flock(descriptor, fcntl.LOCK_EX)  # as soon as the last reader has gone
os.close(descriptor)  # who makes, counts or removes copies holds the root's lock first: clean() does
os.execv(sys.executable, [sys.executable, "-I", "-c", CLEAN, ram_disk, *packages])  # noqa: S606 - ourselves
