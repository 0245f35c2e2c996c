"""Runs a program that ends when the doctor does: `python -I -S tether.py DOCTOR_PID PROGRAM [ARGUMENT...]`.

The kernel keeps the wish over exec, so the program has this process's pid and no wrapper stays around it.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if sys.platform.startswith("linux"):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):  # the doctor ended before the wish was made
    os._exit(1)
try:
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - a program and its arguments, never a shell
except OSError as error:
    sys.exit("cannot start %s: %s" % (sys.argv[2], error.strerror))
