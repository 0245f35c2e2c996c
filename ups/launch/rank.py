"""One rank of a run: python -m ups.launch.rank CONFIG [--set K=V]... [--stages autoencoder,operator] [--resume].

Started by `ups.launch.elastic`, or by torchrun through `ups train`. The exit code is 0, that of the error
that stopped this rank, or 1. What stopped it goes into the report, which the launcher prints for all
ranks; without a launcher of ours it goes to stderr.
"""

from __future__ import annotations

import signal

# First of all, before torch is imported: Ctrl-C reaches every rank, and the launcher speaks for them.
signal.signal(signal.SIGINT, signal.SIG_DFL)

# ruff: noqa: E402
import argparse
import ctypes
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from diagnostics.api import DoctorError, UsageError, without_garbage_collection
from ups.config import UpsConfig, load_config
from ups.errors import AgreedError, CacheRefusedError, naming
from ups.launch.reports import FOLDER_VARIABLE, STOPPED, RankReport, write
from ups.progress import LOGS, Log
from ups.stopping.request import SavedError

FAILED, INTERNAL = "failed", 1
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(arguments: list[str]) -> int:
    """Runs the rank that the command line describes; returns its exit code."""
    if FOLDER_VARIABLE in os.environ:
        end_with_launcher()
    parser = argparse.ArgumentParser(prog="python -m ups.launch.rank")
    parser.add_argument("config", type=Path)
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument("--stages", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--log", choices=LOGS, default="auto")
    options = parser.parse_args(arguments)
    return run(
        load_config(options.config, options.overrides),
        tuple(options.stages.split(",")),
        resume=options.resume,
        hints=naming(options.config, options.overrides),
        log=options.log,
    )


def end_with_launcher() -> None:
    """Asks the kernel to end this rank with its parent: after kill -9 nobody else would, and --resume meets it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(
    config: UpsConfig,
    stages: tuple[str, ...],
    *,
    resume: bool,
    hints: AbstractContextManager[None],
    log: Log = "auto",
    ended: Callable[[RankReport, int], None] = lambda report, code: None,
) -> int:
    """Does this rank's work, ends its process group, and reports; returns the exit code.

    `hints` is errors.naming of what the user named; `ended` hears report and code before this process can be gone.
    """
    rank = int(os.environ.get("RANK", "0"))
    write(RankReport(rank=rank, state="running"))
    report, code = _work(config, stages, resume=resume, rank=rank, hints=hints, log=log)
    if code:
        # Before the group ends: a peer that then loses its connection must not be the first to report.
        write(replace(report, code=code))
    # Everything that _work made, its exception too, is gone now: nothing but the group holds its threads.
    from ups import distributed

    distributed.end(healthy=code == 0)
    if not code:
        write(report)
    if report.error and not os.environ.get(FOLDER_VARIABLE):
        print(f"error: {report.error}" + (f"\n  {report.hint}" if report.hint else ""), file=sys.stderr)  # noqa: T201
    ended(report, code)
    if code and distributed.group_threads():
        # A collective that never ended keeps its threads, and they may abort the interpreter's shutdown:
        # this rank's own code must arrive.
        sys.stderr.flush()
        os._exit(code)
    return code


def _work(
    config: UpsConfig,
    stages: tuple[str, ...],
    *,
    resume: bool,
    rank: int,
    hints: AbstractContextManager[None],
    log: Log,
) -> tuple[RankReport, int]:
    with without_garbage_collection():
        from ups import distributed
        from ups.progress import Display
        from ups.stages import runner

    try:
        world = distributed.begin(backend=config.training.backend, timeout_s=config.training.timeout_s)
        display = Display(shown=world.is_first, log=log)
        if world.fallback:
            display.say(world.fallback)
        with hints:
            result = runner.run(config, world, runner.Plan(stages=stages, resume=resume), display)
    except SavedError as error:
        # Our launcher says it with its own code; to elastic a code other than 0 is a failure, and it ends the others.
        report = RankReport(rank=rank, state=STOPPED, error=error.message, hint=error.hint)
        return report, 0 if FOLDER_VARIABLE in os.environ else error.exit_code
    except DoctorError as error:
        # What every rank sees alike, a wrong configuration or an agreed stop, is nobody's in particular.
        whose = "" if isinstance(error, (UsageError, AgreedError)) else f"rank {rank}: "
        refused = isinstance(error, (UsageError, CacheRefusedError))
        report = RankReport(rank=rank, state=FAILED, error=whose + error.message, hint=error.hint, refused=refused)
        return report, error.exit_code
    except Exception as error:  # the runner: whatever else ends a rank is reported, with its traceback
        lost = distributed.lost_peer(error)
        memory = distributed.out_of_memory(error)
        if memory:
            return RankReport(
                rank=rank, state=FAILED, error=memory, hint="raise accumulate, lower batch_size"
            ), INTERNAL
        if not lost:
            traceback.print_exc()
        told = f"{type(error).__name__}: {distributed.first_line(error)}"
        said = f"rank {rank} {'lost another rank' if lost else 'stopped'}: {told}"
        return RankReport(rank=rank, state=FAILED, error=said, lost_peer=lost), INTERNAL
    return RankReport(rank=rank, state="finished", result=result), 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
