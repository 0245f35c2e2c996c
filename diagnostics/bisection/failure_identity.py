"""A name for the place of a failure that stays when parts of the model are taken out or run alone. Pure.

The place is the innermost line of the user's own code, as long as no call of a module lies between it and the failure.
Where the failure lies in a library's module, the user's line that calls it is gone once that module runs alone: the
library's function comes first, without a line, and the caller after it, as in
"torch/nn/modules/linear.py forward < model.py:31 forward".

The first line of an error's text without what differs between two equal failures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from diagnostics.core.frame import Frame
from diagnostics.core.frames import shown_path
from diagnostics.dynamic.job import stack_classifier

MAX_CHARACTERS = 300
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp|dev/shm)/[^\s'\",:;)\]]+")
_SHAPE = re.compile(r"(?<!\w)\d+(?:x\d+)+\b")
# The digits of a name stay: float16, mat2, ReluBackward0.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<![A-Za-z_\d])\d+")
# "2, 4" and "2 3" of a list, "8x16" of a shape, "127.0.0.1": how many there are changes with the model.
_ROW = re.compile(r"#(?:(?:\s*,\s*|\s*x\s*|\s+|\.|:)#)+,?")
_BRACKETS = re.compile(r"[\[(]#?,?[\])]")

CALLED_FROM = " < "
_MODULE_CALL = re.compile(r"/torch/nn/modules/module\.py$")
_PLUMBING = re.compile(r"^<frozen |/importlib/_bootstrap|/runpy\.py$|\.pyx$|/torch/_dynamo/|/torch/_compile\.py$")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+$")  # the rest of a function that torch.compile has cut
_TORCH = re.compile(r"/(?:site|dist)-packages/(?=torch/)")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/")
_STDLIB = re.compile(r"/lib(?:64)?/python3\.\d+/(?=.)")


def place_of(frames: Sequence[Frame], *, cwd: str, ours: Sequence[str] = (), moving: bool = False) -> str:
    """Returns the place of a stack, innermost frame first; "" where nothing of it tells.

    `ours` are folders whose frames are the doctor's. `moving`: the stack was taken from a rank that may still run, so
    that the line of the frame on top is of that moment only.
    """
    told = [frame for frame in frames if not _is_ours(frame, ours) and not _PLUMBING.search(frame.file)]
    while told and _MODULE_CALL.search(told[0].file) and told[0].function in ("_call_impl", "_wrapped_call_impl"):
        told.pop(0)
    inner = _innermost_module(told)
    head = _telling(inner)
    if head is None:
        return ""
    name = _named(head, cwd, line=_has_lines(head) and not (moving and head is told[0]))
    if _is_own(head):
        return name
    caller = next((frame for frame in told[len(inner) :] if _is_own(frame)), None)
    return f"{name}{CALLED_FROM}{_named(caller, cwd, line=True)}" if caller is not None else name


class BlockedIn(Enum):
    """For what a rank stands still."""

    ITSELF = 0  # it is in no communication: the others may wait for it
    CALLED = 1  # in communication that the user's own line has called
    WRAPPER = 2  # in communication of a wrapper or a backward pass


def wait_of(frames: Sequence[Frame], *, ours: Sequence[str] = ()) -> BlockedIn:
    """Returns for what a rank with this stack, innermost frame first, waits."""
    waiting = False
    for frame in frames:
        if stack_classifier.WRAPPING.search(frame.file):
            return BlockedIn.WRAPPER
        if _MODULE_CALL.search(frame.file):
            return BlockedIn.WRAPPER if waiting else BlockedIn.ITSELF
        waiting = waiting or bool(stack_classifier.MAY_WAIT.search(frame.file))
        if _is_own(frame) and not _is_ours(frame, ours):
            return BlockedIn.CALLED if waiting else BlockedIn.ITSELF
    return BlockedIn.WRAPPER if waiting else BlockedIn.ITSELF


def same_place(one: str, other: str) -> bool:
    """Returns whether both are one place: alike, or one of them is only not told where it was called from."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or (bool(shorter) and longer.startswith(shorter + CALLED_FROM))


def _innermost_module(frames: Sequence[Frame]) -> Sequence[Frame]:
    """Returns the frames up to the call of the innermost module, all of them where there is none."""
    for index, frame in enumerate(frames):
        if _MODULE_CALL.search(frame.file):
            return frames[:index]
    return frames


def _telling(frames: Sequence[Frame]) -> Frame | None:
    """Returns the innermost own frame, else that of an installed package, else of torch the function called first."""
    own = next((frame for frame in frames if _is_own(frame)), None)
    packaged = next((frame for frame in frames if _has_lines(frame)), None)
    library = [frame for frame in frames if not _STDLIB.search(frame.file) or _PACKAGE.search(frame.file)]
    return own or packaged or (library[-1] if library else next(iter(frames), None))


def _is_own(frame: Frame) -> bool:
    return not _PACKAGE.search(frame.file) and not _STDLIB.search(frame.file)


def _has_lines(frame: Frame) -> bool:
    """Whether its line says something that stays: not torch's, nor the standard library's."""
    return not _TORCH.search(frame.file) and (bool(_PACKAGE.search(frame.file)) or _is_own(frame))


def _is_ours(frame: Frame, folders: Sequence[str]) -> bool:
    return any(frame.file.startswith(folder.rstrip("/") + "/") for folder in folders if folder)


def _named(frame: Frame, cwd: str, *, line: bool) -> str:
    file = shown_path(frame.file, cwd)
    for pattern in (_PACKAGE, _STDLIB):
        found = list(pattern.finditer(frame.file))
        if found:
            file = frame.file[found[-1].end() :]
            break
    resumed = _RESUMED.match(frame.function)
    name = resumed[1] if resumed else frame.function.rpartition(".")[2]  # the agent has qualified names
    return f"{file}:{frame.line} {name}" if line else f"{file} {name}"


def normalised_message(text: str) -> str:
    """Returns the first line that is not empty; numbers, shapes, addresses and temporary paths are "#"."""
    line = next((one.strip() for one in text.splitlines() if one.strip()), "")[: 4 * MAX_CHARACTERS]
    for pattern in (_ADDRESS, _TEMPORARY, _SHAPE, _NUMBER, _ROW, _BRACKETS):
        line = pattern.sub("#", line)
    return line[:MAX_CHARACTERS]
