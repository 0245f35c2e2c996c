"""Where a value that is no number was first made: for evidence, in a run of its own, since looking changes the run.

In a forward it is the first module whose outputs have such values while its inputs have none. In a backward, torch's
anomaly mode ends the run, and tells the forward call that the operation came from.
"""

import contextlib
import re
import sys
import warnings

import torch

from ..inspection.values import named_tensors
from .nonfinite import finite
from .raised import is_ours

FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
OF_FORWARD = "Traceback of forward call that caused the error"


@contextlib.contextmanager
def watching(model, answer, wanted):
    """Notes the place in the answer, where it is wanted."""
    if not wanted:
        yield
        return
    hooks = [
        one.register_forward_hook(Look(path, answer), with_kwargs=True)
        for path, one in model.named_modules()
        if not isinstance(one, torch.jit.ScriptModule)
    ]
    with warnings.catch_warnings(record=True) as told, torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            texts = [str(one.message) for one in told if OF_FORWARD in str(one.message)]
            if texts:
                frames = [[file, int(line), name] for file, line, name in FRAME.findall(texts[0])]
                note(answer, None, [frame for frame in frames if not is_ours(frame[0])])


class Look:
    """A forward hook of one module."""

    def __init__(self, path, answer):
        self.path, self.answer = path, answer

    def __call__(self, module, args, kwargs, output):
        """Notes the module where it made what is no number; those inside of it were asked before."""
        with torch.no_grad():
            if self.answer.content["nonfinite_frames"] or whole(output) or not whole((args, kwargs)):
                return
        note(self.answer, self.path, stack(sys._getframe(1)))


def note(answer, path, frames):
    """Keeps the first place found."""
    if not answer.content["nonfinite_frames"]:
        answer.note(nonfinite_module=path, nonfinite_frames=frames)


def whole(value):
    """Whether all tensors in a value have finite values only."""
    return all(finite(tensor.detach()) for _, tensor in named_tensors(value))


def stack(frame):
    """Returns [file, line, function] of the frames that are not ours, innermost last."""
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_ours(file):
            found.append([file, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return found[::-1]
