"""Where a value that is no number was first made: for evidence, in a run of its own, since looking changes the run.

In a forward it is the first module whose outputs have such values while its inputs have none; in a backward the first
operation of which that is true of its gradients, with the module and the line that called it.
"""

import contextlib
import re
import sys

import torch

from ..inspection.values import named_tensors
from ..trial.raised import is_ours
from .nonfinite import finite

FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.MULTILINE)


@contextlib.contextmanager
def watching(model, answer, wanted):
    """Notes the place in the answer, where it is wanted."""
    if not wanted:
        yield
        return
    watch = Watch(answer)
    hooks = [
        one.register_forward_hook(watch.look(answer.paths[id(one)]), with_kwargs=True)
        for one in model.modules()
        if id(one) in answer.paths and not isinstance(one, torch.jit.ScriptModule)  # no wrapper
    ]
    try:
        with torch.autograd.set_detect_anomaly(True, check_nan=False):  # each operation keeps the stack it came from
            yield
    finally:
        for hook in hooks:
            hook.remove()


class Watch:
    """Looks at what modules and operations make, until the first place is found."""

    def __init__(self, answer):
        self.answer = answer
        self.nodes = set()  # of the graph, that have a hook; kept, so that each stays one object

    def look(self, path):
        """Returns a forward hook for the module at `path`; those inside of it are asked before."""

        def hook(module, args, kwargs, output):
            with torch.no_grad():
                if not self.over and not whole(output) and whole((args, kwargs)):
                    self.note(path, stack(sys._getframe(1)))
            if not self.over:
                self.follow(path, output, (args, kwargs))

        return hook

    @property
    def over(self):
        """Whether a place was found, or values came from elsewhere: gradients of another rank reach all parameters."""
        return bool(self.answer.content["nonfinite_frames"] or self.answer.content["nonfinite"])

    def note(self, path, frames):
        """Keeps the first place."""
        if not self.over:
            self.answer.note(nonfinite_module=path, nonfinite_frames=frames)

    def follow(self, path, output, given):
        """Puts a hook on each operation between a module's inputs and its outputs that has none yet."""
        ends = {tensor.grad_fn for _, tensor in named_tensors(given)}
        waiting = [tensor.grad_fn for _, tensor in named_tensors(output)]
        while waiting:
            node = waiting.pop()
            if node is None or node in ends or node in self.nodes:
                continue
            self.nodes.add(node)
            node.register_hook(self.backward(path, node.metadata.get("traceback_", ())))
            waiting += [before for before, _ in node.next_functions]

    def backward(self, path, lines):
        """Returns a hook of one operation, called as `lines` tell."""

        def hook(made, given):
            if not self.over and not all(map(is_whole, made)) and all(map(is_whole, given)):
                called = [[file, int(line), name] for file, line, name in FRAME.findall("".join(lines))]
                self.note(path, [frame for frame in called if not is_ours(frame[0])])

        return hook


def whole(value):
    """Whether all tensors in a value have finite values only."""
    return all(is_whole(tensor) for _, tensor in named_tensors(value))


def is_whole(tensor):
    """Whether a tensor, or None in its place, has finite values only."""
    return tensor is None or finite(tensor.detach())


def stack(frame):
    """Returns [file, line, function] of the frames that are not ours, innermost last."""
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_ours(file):
            found.append([file, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return found[::-1]
