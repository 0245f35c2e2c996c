"""What a process of the doctor's and its forks do alike: end with the one above them, leave without Python's end."""

import ctypes
import json
import os
import signal
import sys
import traceback

PR_SET_PDEATHSIG = 1


def die_with(parent_pid):
    """Has the kernel kill this process when its parent ends (Linux); ends it now where the parent has gone."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)


def leave_with(work):
    """Runs `work` and leaves without the interpreter's exit: what the parent registered there is not ours."""
    code = 1
    try:
        work()
        code = 0
    except BaseException:  # nothing may climb back into the parent's frames
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def parse(answer):
    """Returns a rank's answer, {} where it died before or while it gave one."""
    try:
        return json.loads(answer.decode())
    except ValueError:
        return {}
