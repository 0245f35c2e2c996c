"""Signals that this process sends, each with the line that sent it."""

from __future__ import annotations

import os
import sys

from ..imports import when_imported
from ..patching import replace

MILD = (10, 12, 17, 18, 23, 28)  # USR1, USR2, CHLD, CONT, URG, WINCH: what programs tell each other
TERMINATING = ("send_signal", "_send_signal", "terminate", "kill")  # methods of Popen and Process


def watch(agent):
    """Records os.kill, os.killpg, signal.raise_signal and signal.pthread_kill; Popen and Process use os.kill."""

    def sends(how, target):
        def before(frame, args, kwargs):
            number = int(args[-1] if args else kwargs.get("sig", kwargs.get("signal", kwargs.get("signalnum", 0))))
            if number:  # 0 only asks whether the process is there
                name = "terminate" if _by_method(frame) else how
                text = "pid=%d signal=%d how=%s" % (target(args, kwargs), number, name)
                agent.event("kill", text, frame=frame, quota="kill-mild" if number in MILD else None)

        return before

    replace(os, "kill", before=sends("os.kill", lambda args, kwargs: int(args[0] if args else kwargs["pid"])))
    replace(os, "killpg", before=sends("os.killpg", lambda args, kwargs: -int(args[0] if args else kwargs["pgid"])))
    for name in ("raise_signal", "pthread_kill"):
        before = sends("signal." + name, lambda args, kwargs: os.getpid())
        when_imported("signal", lambda name=name, before=before: replace(sys.modules["signal"], name, before=before))


def _by_method(frame):
    code = frame.f_code
    return code.co_name in TERMINATING and (
        code.co_filename.endswith("/subprocess.py") or "/multiprocessing/popen_" in code.co_filename
    )
