"""Where a Python stack stands as far as waiting for other ranks goes: told by the names of torch's frames. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.frame import Frame, Owner
from diagnostics.core.frames import user_frames

_DISTRIBUTED = r"(?:^|/)torch/distributed/(?!elastic/|run\.py|launch"
_ENGINE = r"(?:^|/)torch/autograd/(?:graph|__init__"
# Each says what a stack may do that has such a frame. The launcher's own loop waits for processes, not for ranks.
IN_DISTRIBUTED = re.compile(_DISTRIBUTED + ")")
# Writing a checkpoint is work of the rank's own; what it exchanges passes through other files of torch.distributed.
EXCHANGES = re.compile(_DISTRIBUTED + r"|checkpoint/|optim/)")
# Backward and the wrapper's forward wait for gradients and buffers of peers, or compute.
WAITS_OR_COMPUTES = re.compile(r"(?:^|/)torch/(?:autograd|nn/parallel)/")
MAY_WAIT = re.compile(f"{IN_DISTRIBUTED.pattern}|{WAITS_OR_COMPUTES.pattern}")
# What a wrapper, not the user's own line, exchanges.
WRAPPING = re.compile(rf"(?:^|/)torch/distributed/(?:fsdp|_composable)|{WAITS_OR_COMPUTES.pattern}")
# Innermost Python frames below which C++ makes or waits for collectives: DDP's reducer in the first.
IN_BACKWARD = re.compile(_ENGINE + r")\.py$")
ABOVE_NATIVE = re.compile(
    rf"{IN_BACKWARD.pattern}|{_DISTRIBUTED})|(?:^|/)torch/(?:nn/parallel/|_ops\.py$|autograd/function\.py$|_tensor\.py$"
    r"|nn/modules/(?:batchnorm|_functions)\.py$|utils/checkpoint\.py$)"
)
_PEERS = re.compile(rf"{IN_DISTRIBUTED.pattern}|(?:^|/)torch/nn/parallel/")
_CALLS = re.compile(
    r"(?:^|/)torch/distributed/(?:distributed_c10d|rendezvous|_functional_collectives|nn/functional)\.py$"
)
_BACKWARD = re.compile(_ENGINE + r"|function)\.py$")
_WRAPPERS = {"wrapper", "decorate_context", "_fn", "inner"}
_LEAVING = {
    ("threading.py", "_shutdown"), ("util.py", "_exit_function"), ("weakref.py", "_exitfunc"),
    ("thread.py", "_python_exit"), ("process.py", "_python_exit"),
}  # fmt: skip
_WORKER = re.compile(r"(?:^|/)torch/utils/data/_utils/worker\.py$")
_SPAWNED = re.compile(r"(?:^|/)torch/multiprocessing/spawn\.py$")
_PROCESS = re.compile(r"(?:^|/)multiprocessing/process\.py$")
_LIBRARY = re.compile(r"^.*/(?:(?:site|dist)-packages|python3\.\d+)/")


class RankActivity(StrEnum):
    """What a stack looks like."""

    WAITS = "waits"  # inside torch.distributed
    BACKWARD = "backward"  # inside a backward pass, which computes, or waits for gradients of other ranks
    OUTSIDE = "outside"
    LEAVING = "leaving"  # the program is through; the interpreter shuts down
    UNKNOWN = "unknown"  # no stack


@dataclass(frozen=True, slots=True, kw_only=True)
class StackClass:
    """One stack. `op` is the call of torch.distributed that the job made, "" where there is none."""

    doing: RankActivity
    op: str = ""
    user: tuple[Frame, ...] = ()  # the job's own frames, innermost first


def classify(frames: Sequence[Frame], agent_folder: str = "") -> StackClass:
    """Returns where a main thread stands; `frames` are innermost first."""
    if not frames:
        return StackClass(doing=RankActivity.UNKNOWN)
    user = user_frames(frames, agent_folder=agent_folder)
    inner = [frame for frame in frames if not (agent_folder and frame.file.startswith(agent_folder))] or list(frames)
    if any((frame.file.rpartition("/")[2], frame.function) in _LEAVING for frame in inner):
        return StackClass(doing=RankActivity.LEAVING, user=user)
    if _PEERS.search(inner[0].file) or _PEERS.search(_first_of_torch(inner)):
        return StackClass(doing=RankActivity.WAITS, op=_op(inner), user=user)
    if _BACKWARD.search(inner[0].file):
        return StackClass(doing=RankActivity.BACKWARD, op="backward", user=user)
    return StackClass(doing=RankActivity.OUTSIDE, user=user)


def is_data_worker(frames: Sequence[Frame]) -> bool:
    """Whether this is the main thread of a DataLoader's worker."""
    return any(_WORKER.search(frame.file) and frame.function == "_worker_loop" for frame in frames)


def worker_frames(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns what of a stack is a data worker's own: a forked one still has the program above it; else all."""
    for place, frame in enumerate(frames):
        if _WORKER.search(frame.file) and frame.function == "_worker_loop":
            return tuple(frames[: place + 1])
    return tuple(frames)


def is_spawned(frames: Sequence[Frame]) -> bool:
    """Whether torch.multiprocessing.spawn started this process."""
    return any(_SPAWNED.search(frame.file) and frame.function == "_wrap" for frame in frames)


def is_bootstrapped(frames: Sequence[Frame]) -> bool:
    """Whether multiprocessing started this process."""
    return any(_PROCESS.search(frame.file) and frame.function.endswith("_bootstrap") for frame in frames)


def since_start(frames: Sequence[Frame]) -> Sequence[Frame]:
    """Returns what a process of multiprocessing does itself: a fork has its parent's frames on its stack as well."""
    first = next((at for at, one in enumerate(frames) if is_bootstrapped((one,))), None)
    return frames if first is None else frames[:first]


def joins(frames: Sequence[Frame]) -> bool:
    """Whether it waits for processes that it started."""
    return any(
        (_PROCESS.search(frame.file) or _SPAWNED.search(frame.file)) and frame.function.rpartition(".")[2] == "join"
        for frame in frames
    )


def shown_file(file: str) -> str:
    """Returns a library's file from its package on: "torch/optim/sgd.py"; others unchanged."""
    return _LIBRARY.sub("", file)


def is_library(frame: Frame) -> bool:
    """Whether it is none of the job's own files."""
    if frame.owner is not None:
        return frame.owner is not Owner.USER or is_native(frame)
    return bool(_LIBRARY.match(frame.file)) or frame.file.startswith("<frozen ") or is_native(frame)


def is_native(frame: Frame) -> bool:
    """Whether it is C++ code, as py-spy names it: by its library, or by a source file that is not here."""
    return not frame.file.endswith((".py", ".pyx", ">"))


def _first_of_torch(inner: Sequence[Frame]) -> str:
    """Returns the file below which only Python's own waiting lies: `wait (threading.py)` called by torch's code."""
    for frame in inner:
        if frame.file.rpartition("/")[2] not in ("threading.py", "contextlib.py") or not is_library(frame):
            return frame.file
    return ""


def _op(inner: Sequence[Frame]) -> str:
    """Returns the outermost function of the innermost run of torch's calls: all_gather_object, not its all_gather."""
    op = ""
    for frame in inner:
        if _CALLS.search(frame.file):
            op = frame.function
        elif op and frame.function not in _WRAPPERS and not frame.function.endswith(".wrapper"):
            break
    return op or inner[0].function
