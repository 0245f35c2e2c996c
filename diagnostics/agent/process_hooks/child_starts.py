"""Children that subprocess and multiprocessing start, each with the line that did."""

from __future__ import annotations

import os
import sys

from ..patching import wrap_method
from ..shared.redaction import hide, hide_words
from .child_processes import started_by

MAX_WORDS = 300
MAX_KNOWN = 256


def watch_popen(agent):
    """Records what subprocess.Popen starts."""

    def started(frame, result, args, kwargs):
        if agent.full("child"):
            return
        words = args[1] if len(args) > 1 else kwargs.get("args", "")
        if isinstance(words, (list, tuple)):
            words = " ".join(hide_words([os.fsdecode(word)[: 2 * MAX_WORDS] for word in words[:20]]))
        else:
            words = hide(os.fsdecode(words)[: 2 * MAX_WORDS])
        how = "pid=%d how=popen reads=1%s" % (args[0].pid, started_by(frame))
        agent.event("child", "%s | %s" % (how, words[:MAX_WORDS]), frame=frame)

    wrap_method(sys.modules["subprocess"].Popen, "__init__", after=started)


def watch_process(agent):
    """Records what multiprocessing starts."""
    targets = {}  # id(process) -> what it runs, which it forgets when it has started

    def starting(frame, args, kwargs):
        if len(targets) < MAX_KNOWN:
            targets[id(args[0])] = dotted_target(args[0])

    def started(frame, result, args, kwargs):
        process = args[0]
        how = "pid=%d how=process reads=1%s" % (process.pid, started_by(frame))
        text = "%s | %s %s" % (how, process.name, targets.pop(id(process), ""))
        agent.event("child", text[:MAX_WORDS], frame=frame)

    wrap_method(sys.modules["multiprocessing.process"].BaseProcess, "start", before=starting, after=started)


def dotted_target(worker):
    """Returns the dotted name of what a Process or Thread will run."""
    target = getattr(worker, "_target", None) or type(worker)
    return "%s.%s" % (getattr(target, "__module__", ""), getattr(target, "__qualname__", type(target).__name__))
