"""`ups train` runs inside the doctor: the same command once more, watched, with its report below reports/."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from diagnostics.api import WatchOptions, watch
from ups.launch.run import Request
from ups.launch.tied import WATCHED_BY

ASIDE = ("--no-preflight", "--no-doctor")  # both are behind us when the watched command starts


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this process is to start the doctor: not inside one already, and not switched off."""
    return not environ.get("UPS_DOCTOR_DIR") and environ.get("UPS_DOCTOR_OFF") != "1"


def train(request: Request) -> int:
    """Runs the training watched; returns the exit code: the training's own, or 128 + N for a rank that crashed."""
    os.environ[WATCHED_BY] = str(os.getpid())
    return watch(argv(request), WatchOptions(quiet=request.log == "quiet"))


def argv(request: Request) -> list[str]:
    """Returns the command line of the watched training."""
    words = [sys.executable, "-m", "ups", "train", str(request.path)]
    for override in request.overrides:
        words += ["--set", override]
    if len(request.stages) == 1:
        words += ["--stage", request.stages[0]]
    if request.resume:
        words.append("--resume")
    if request.nproc is not None:
        words += ["--nproc", str(request.nproc)]
    if request.log == "quiet":
        words.append("--quiet")
    elif request.log != "auto":
        words += ["--log", request.log]
    if request.max_restarts:
        words += ["--max-restarts", str(request.max_restarts)]
    return [*words, *ASIDE]
