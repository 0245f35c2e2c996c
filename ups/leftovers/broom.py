"""Removes a folder once its maker has gone: `python -I -S broom.py FOLDER`, with the maker's pipe as stdin."""

import shutil
import signal
import sys

for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM"):
    signal.signal(signal.Signals["SIG" + name], signal.SIG_IGN)  # a scheduler may send them to all processes of a job
sys.stdin.buffer.read()  # to its end: the maker never writes, it closes or dies
shutil.rmtree(sys.argv[1], ignore_errors=True)
