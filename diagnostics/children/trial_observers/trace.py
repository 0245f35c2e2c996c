"""A Chrome trace of the steps: phases and modules, written as each begins, so that a crash leaves them.

Where the steps come to their end, all operations are added.
"""

import contextlib
import json
import os
import time
from pathlib import Path

import torch
from torch.nn.modules import module as torch_module


@contextlib.contextmanager
def traced(file, answer, modules):
    """Writes a trace of what runs inside, with the modules' names where `modules` is set. No file, no trace."""
    if not file:
        yield
        return
    with Events(file, answer, modules) as events, torch.profiler.profile(activities=activities()) as profiler:
        yield
    temporary = Path(file + ".tmp")
    profiler.export_chrome_trace(str(temporary))
    events.add_to(temporary)
    temporary.replace(file)


def activities():
    """Returns what torch can trace here."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    return [*kinds, torch.profiler.ProfilerActivity.CUDA] if torch.cuda.is_initialized() else kinds


class Events:
    """Writes each event at once: what has no end was open when the process ended."""

    def __init__(self, file, answer, modules):
        self.answer, self.modules = answer, modules
        self.lines, self.hooks = [], []
        self.stream = Path(file).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the steps
        self.stream.write("[\n")

    def __enter__(self):
        self.answer.listener = lambda phase, kind: self.say(phase, "phase", kind)
        if self.modules:
            self.hooks = [
                torch_module.register_module_forward_pre_hook(lambda module, args: self.called(module, "B")),
                torch_module.register_module_forward_hook(lambda module, args, output: self.called(module, "E")),
            ]
        return self

    def __exit__(self, *error):
        self.answer.listener = None
        for hook in self.hooks:
            hook.remove()
        self.stream.close()

    def called(self, module, kind):
        """Notes that a module's forward begins or ends."""
        name = type(module).__name__
        self.say(self.answer.paths.get(id(module)) or name, name, kind)

    def say(self, name, category, kind):
        """Writes one event; viewers read a list without its last bracket."""
        line = {"name": name, "cat": category, "ph": kind, "pid": os.getpid(), "tid": 0, "ts": time.time_ns() / 1000}
        self.lines.append(line)
        self.stream.write(json.dumps(line) + ",\n")
        self.stream.flush()

    def add_to(self, trace):
        """Adds the events to a profiler's trace, whose clock may have a base of its own."""
        content = json.loads(trace.read_text(encoding="utf-8"))
        base = content.get("baseTimeNanoseconds", 0) / 1000
        content["traceEvents"] += [{**line, "ts": line["ts"] - base} for line in self.lines]
        trace.write_text(json.dumps(content), encoding="utf-8")
