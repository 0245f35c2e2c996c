"""Ties the watched `ups train` to the one around it, which the user knows: a kill -9 of that ends the training, too."""

from __future__ import annotations

import ctypes
import os
import signal

WATCHED_BY = "UPS_WATCHED_BY"  # the pid of the doctor, for the watched command alone
PR_SET_PDEATHSIG = 1  # linux/prctl.h
END = signal.SIGHUP  # at once: whoever starts the run again must not meet ranks that still save


def end_with_doctor() -> None:
    """Has the kernel send SIGHUP to the watched command once the doctor around it has gone."""
    doctor = os.environ.pop(WATCHED_BY, "")
    if doctor != str(os.getppid()):  # not watched by our own command
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, END)
    if doctor != str(os.getppid()):  # it died before the wish was made
        os.kill(os.getpid(), END)
