"""The flight recorder on demand: a byte into a FIFO of the record folder, and this process writes what C++ recorded.

`flight-<pid>-<start>.fifo` is read by a thread that blocks in the kernel, and answers while the main thread waits
inside C++: `flight-<pid>-<start>.json` is torch's own JSON (`...-nccl.json` where NCCL keeps one of its own), and
`frames-<pid>-<start>.json` has the Python stacks of all threads, the counter of the default group, what the
variables of the main thread's own frames hold (frame_values.py), and where the coroutines stand that it runs
(awaited_frames.py).
"""

from __future__ import annotations

import _thread
import atexit
import json
import os
import sys

from ..awaited_frames import awaited_by
from ..frame_values import span_of, values_of
from ..frames import is_library
from ..shared.redaction import hide

SWITCH = "UPS_DOCTOR_FLIGHT"
NATIVE = "torch._C._distributed_c10d"
GROUPS = "torch.distributed.distributed_c10d"
DUMPS = (("", "_dump_fr_trace_json"), ("-nccl", "_dump_nccl_trace_json"))
MAX_FRAMES, MAX_WITH_VALUES, MAX_TEXT = 200, 24, 500


def start(agent):
    """Starts the thread once per process, where the supervisor asked for it. Never raises."""
    if os.environ.get(SWITCH) != "1" or agent.file is None or getattr(agent, "flight", None) is not None:
        return
    try:
        agent.flight = Flight(agent)
        agent.at_fork.append(agent.flight.forget)
        atexit.register(agent.flight.remove)
        # No threading.Thread: a job that looks at its threads should find its own.
        _thread.start_new_thread(agent.flight.answer, ())
    except Exception as error:
        agent.event("no-flight-recorder", str(error))


def _private(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


class Flight:
    """The FIFO of this process and what is written when a byte comes."""

    def __init__(self, agent):
        stem = os.path.basename(agent.file.path)[len("agent-") : -len(".bin")]
        self._agent, self._folder, self._stem, self._pid = agent, agent.folder, stem, os.getpid()
        self._fifo = os.path.join(agent.folder, "flight-%s.fifo" % stem)
        os.mkfifo(self._fifo, 0o600)
        self._open()

    def _open(self):
        # For reading and writing: opening never waits, and no writer's end is an end of file.
        self._fd = os.open(self._fifo, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        facts = os.fstat(self._fd)
        self._identity = facts.st_dev, facts.st_ino

    def _is_ours(self):
        """Whether the descriptor still is the FIFO: a job may have closed all, and reused the number."""
        try:
            facts = os.fstat(self._fd)
        except OSError:
            return False
        return (facts.st_dev, facts.st_ino) == self._identity

    def answer(self):
        """Runs in the thread until the process ends."""
        try:
            while True:
                if not self._is_ours():
                    self._open()
                if not os.read(self._fd, 64):
                    return
                self._dump()
        except Exception:
            pass  # the FIFO is gone or cannot be read: no answers any more; the job goes on

    def _dump(self):
        native = sys.modules.get(NATIVE)
        self._write("frames", "", lambda: json.dumps(_frames()).encode())
        for suffix, name in DUMPS:
            dump = getattr(native, name, None)
            if dump is not None:
                self._write("flight", suffix, lambda dump=dump: _bytes(dump(True, True)))

    def _write(self, kind, suffix, make):
        path = os.path.join(self._folder, "%s-%s%s.json" % (kind, self._stem, suffix))
        try:
            data = make()
            with open(path + ".part", "wb", opener=_private) as file:
                file.write(data)
            os.rename(path + ".part", path)
        except Exception as error:
            self._agent.event("no-flight-recorder", "%s: %s" % (os.path.basename(path), error))

    def forget(self):
        """In a forked child: it has no such thread and must not keep the FIFO open."""
        self._agent.flight = None
        if self._is_ours():
            os.close(self._fd)

    def remove(self):
        """At exit: nobody will answer any more."""
        try:
            if os.getpid() == self._pid:
                os.unlink(self._fifo)
        except OSError:
            pass  # somebody removed it


def _bytes(dumped):
    return dumped if isinstance(dumped, bytes) else str(dumped).encode()


def _frames():
    """Returns {"threads": [{"ident", "name", "main", "frames", "awaits", ...}], "group_number": 17 or None}."""
    threading = sys.modules.get("threading")
    known = dict(getattr(threading, "_active", {})) if threading is not None else {}
    main = threading.main_thread().ident if threading is not None else None
    threads = []
    for ident, frame in sys._current_frames().items():
        if ident == _thread.get_ident():
            continue
        thread, frames, awaited = known.get(ident), [], []
        left = MAX_WITH_VALUES if ident == main else 0
        while frame is not None and len(frames) < MAX_FRAMES:
            one = _shown(frame)
            if left and not is_library(one["file"]):
                left -= 1
                one["span"], one["values"] = span_of(frame), values_of(frame)
            frames.append(one)
            awaited = awaited or [_shown(each) for each in awaited_by(frame)[::-1]]
            frame = frame.f_back
        native = getattr(thread, "native_id", None)
        threads.append(
            {
                "ident": ident,
                "name": getattr(thread, "name", ""),
                "native": native,
                "main": ident == main,
                "frames": frames,
                "awaits": awaited[:MAX_FRAMES],
                "handles": _handled(ident) if ident == main else None,
            }
        )
    threads.sort(key=lambda one: not one["main"])
    return {"threads": threads, "group_number": _group_number()}


def _shown(frame):
    code = frame.f_code
    return {
        "file": code.co_filename,
        "line": frame.f_lineno,
        "function": getattr(code, "co_qualname", code.co_name),
    }


def _handled(ident):
    """Returns {"text", "frames"} of the exception that a thread is handling or that is on its way there, else None."""
    current = getattr(sys, "_current_exceptions", None)  # from Python 3.10 on
    error = current().get(ident) if current is not None else None
    error = error[1] if isinstance(error, tuple) else error
    if error is None:
        return None
    kind, traceback, frames = type(error), error.__traceback__, []
    text = kind.__qualname__
    if kind.__module__ == "builtins":  # its text needs no code of the job
        text = hide("%s: %s" % (text, str(error)[:MAX_TEXT]))
    while traceback is not None:
        code = traceback.tb_frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append({"file": code.co_filename, "line": traceback.tb_lineno, "function": name})
        traceback = traceback.tb_next
    return {"text": text, "frames": frames[::-1][:MAX_FRAMES]}


def _group_number():
    groups = sys.modules.get(GROUPS)
    group = groups.GroupMember.WORLD if groups is not None else None
    try:
        return group._get_sequence_number_for_group() if group is not None else None
    except Exception:
        return None
