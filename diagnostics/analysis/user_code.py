"""Which frames are the user's: a line of the job is worth more than the library line below it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from diagnostics.analysis.agent_facts import Frame

_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
_STDLIB = re.compile(r"/lib/python3\.\d+/(?!(?:site|dist)-packages/)")
# Compiled Cython names its source as it lay when it was built: "h5py/h5f.pyx".
_PLUMBING = re.compile(r"/torch/nn/modules/module\.py$|^<frozen |/importlib/_bootstrap|/runpy\.py$")
_NEVER = re.compile(r"^<frozen |/(?:site|dist)-packages/torch/|\.pyx$")


def user_frames(frames: Iterable[Frame], *, agent_folder: str = "") -> tuple[Frame, ...]:
    """Returns the frames of the job's own files, or of installed packages but torch where there are none."""
    ours = [
        frame
        for frame in frames
        if not _NEVER.search(frame.file)
        and not _STDLIB.search(frame.file)
        and not (agent_folder and frame.file.startswith(agent_folder + os.sep))
    ]
    own = [frame for frame in ours if not _PACKAGES.search(frame.file)]
    in_files = tuple(frame for frame in own if frame.file != "<string>")  # what multiprocessing starts a child with
    return in_files or tuple(own) or tuple(ours)


def telling_frames(frames: Sequence[Frame], agent_folders: Collection[str]) -> tuple[Frame, ...]:
    """Returns the frames without the agent's and those that only pass a call of a module on."""
    inside = tuple(f"{folder}{os.sep}" for folder in agent_folders if folder)
    kept = tuple(frame for frame in frames if not frame.file.startswith(inside))
    return tuple(frame for frame in kept if not _PLUMBING.search(frame.file)) or kept


def shown_path(file: str, cwd: str) -> str:
    """Returns the path relative to the job's working directory, absolute where it lies outside."""
    if not Path(file).is_absolute() or not cwd:
        return file
    relative = os.path.relpath(file, cwd)
    return file if relative.startswith("..") else relative


def location(frame: Frame, cwd: str) -> str:
    """Returns "path:line"."""
    return f"{shown_path(frame.file, cwd)}:{frame.line}"
