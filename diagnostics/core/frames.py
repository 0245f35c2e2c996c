"""Which frames are the user's: a line of the job is worth more than the library line below it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from diagnostics.core.frame import Frame, Owner
from diagnostics.core.frame_owners import owner_by_name

# Compiled Cython names its source as it lay when it was built: "h5py/h5f.pyx".
_COMPILED = re.compile(r"\.pyx$")
_MODULE_CALL = re.compile(r"/torch/nn/modules/module\.py$")
_STARTING = re.compile(r"^<frozen |/importlib/_bootstrap|/runpy\.py$")


def owner_of(frame: Frame, agent_folder: str = "") -> Owner:
    """Returns whose file a frame is in: as its record told, else by the file's name."""
    if agent_folder and frame.file.startswith(agent_folder + os.sep):
        return Owner.DOCTOR
    return frame.owner or owner_by_name(frame.file)


def is_installed(frame: Frame) -> bool:
    """Whether it is in no file of the job's own: a package's, torch's, the interpreter's."""
    return owner_of(frame) is not Owner.USER


def is_package(frame: Frame) -> bool:
    """Whether it is in an installed package, torch too."""
    return owner_of(frame) in (Owner.PACKAGE, Owner.TORCH, Owner.LAUNCHER)


def user_frames(frames: Iterable[Frame], *, agent_folder: str = "") -> tuple[Frame, ...]:
    """Returns the frames of the job's own files, or of installed packages but torch where there are none.

    All that is ever shown as the place of a failure comes from here: never a frame of the doctor's, of a launcher, of
    torch or of the interpreter.
    """
    told = [(frame, owner_of(frame, agent_folder)) for frame in frames if not _COMPILED.search(frame.file)]
    own = tuple(frame for frame, owner in told if owner is Owner.USER)
    return own or tuple(frame for frame, owner in told if owner is Owner.PACKAGE)


def telling_frames(frames: Sequence[Frame], agent_folders: Collection[str]) -> tuple[Frame, ...]:
    """Returns the frames without the doctor's and those that only pass a call of a module on."""
    inside = tuple(f"{folder}{os.sep}" for folder in agent_folders if folder)
    kept = tuple(frame for frame in frames if not frame.file.startswith(inside) and frame.owner is not Owner.DOCTOR)
    return tuple(frame for frame in kept if not _passes_on(frame)) or kept


def _passes_on(frame: Frame) -> bool:
    if frame.owner is Owner.USER:
        return False
    return bool(_MODULE_CALL.search(frame.file) or _STARTING.search(frame.file))


def shown_path(file: str, cwd: str) -> str:
    """Returns the path relative to the job's working directory, absolute where it lies outside."""
    if not Path(file).is_absolute() or not cwd:
        return file
    relative = os.path.relpath(file, cwd)
    return file if relative.startswith("..") else relative


def location(frame: Frame, cwd: str) -> str:
    """Returns "path:line"."""
    return f"{shown_path(frame.file, cwd)}:{frame.line}"
