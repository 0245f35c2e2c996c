"""Starts a job's first process, with the agent, the relay and the marks that its descendants inherit.

Variables of `--backend-debug`: what torch and NCCL say about themselves for one run, kept apart by process.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from diagnostics.core.files import write_private
from diagnostics.core.own_folders import DOCTOR
from diagnostics.machine.execution.output_relay import ADDRESS_VARIABLE, JobStreams
from diagnostics.machine.processes.descendants import MARK
from diagnostics.machine.processes.job_processes import OWN
from diagnostics.record.record import agent_environment
from diagnostics.supervisor.capture.run_folder import RunFolder

COMMAND_NOT_FOUND, CANNOT_EXECUTE = 127, 126
_ROOT = DOCTOR.parent


class NotStartedError(Exception):
    """The command cannot be started; `exit_code` is what a shell would say."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def open_streams(place: RunFolder) -> JobStreams:
    """Returns what becomes the job's stdout and stderr. Raises OSError."""
    keeper = [sys.executable, "-I", "-c", _KEEPER, str(_ROOT), str(place.record / "output")]
    return JobStreams(place.agents, keeper)


def environment(
    place: RunFolder, streams: JobStreams | None, mark: str, *, backend_debug: bool, deep: bool, local_values: bool
) -> dict[str, str]:
    """Returns the variables of the job: ours, and those that switch on what watches it."""
    inherited = {name: value for name, value in os.environ.items() if name != OWN}
    debug = debug_variables(place.record, inherited) if backend_debug else {}
    address = {ADDRESS_VARIABLE: streams.address} if streams is not None else {}
    agent = agent_environment(place.agents, deep=deep, flight=True, local_values=local_values)
    return {**inherited, **debug, **agent, **address, MARK: mark}


def spawn(command: Sequence[str], environ: Mapping[str, str], streams: JobStreams | None) -> subprocess.Popen[bytes]:
    """Starts `command` in a process group of its own. Raises OSError."""
    out, err = streams.for_job if streams is not None else (1, 2)

    def start(argv: list[str]) -> subprocess.Popen[bytes]:
        # Descriptors that we inherited are the job's, too; our own are closed by exec.
        return subprocess.Popen(argv, env=environ, stdout=out, stderr=err, process_group=0, close_fds=False)

    try:
        return start(list(command))
    except OSError as error:
        if error.strerror != "Exec format error":
            raise
        return start(["/bin/sh", *command])  # a script without a first line, as a shell does it


def not_started(program: str, error: OSError, place: RunFolder, streams: JobStreams | None) -> NotStartedError:
    """Returns what a shell would say about `program`, and leaves it in the record as the job's output."""
    message, code = refusal(program, error)
    if streams is not None:
        streams.job_has_started()
        streams.finish(lambda: 1.0)
    with suppress(OSError):  # then it stands on the screen alone
        write_private(place.record / "output" / "all.txt", message + "\n")
    return NotStartedError(message, code)


def refusal(program: str, error: OSError) -> tuple[str, int]:
    """Returns what a shell says where it cannot start `program`, and its exit code."""
    code = CANNOT_EXECUTE if isinstance(error, PermissionError) else COMMAND_NOT_FOUND
    if code == CANNOT_EXECUTE and "/" in program and Path(program).is_dir():  # to exec it is EACCES
        return f"{program}: Is a directory", code
    absent = isinstance(error, FileNotFoundError) and "/" not in program
    return f"{program}: {'command not found' if absent else error.strerror}", code


def raise_open_files() -> None:
    """Takes all descriptors we may have: one a process. The job has started and keeps its own limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        return


_KEEPER = (
    "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; "
    "from diagnostics.supervisor.output_copies import keep; keep(sys.stdin.buffer, Path(sys.argv[2]))"
)


def debug_variables(record: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns what is to be set; what the user has set himself stays.

    TORCH_DISTRIBUTED_DEBUG is never DETAIL: it kills the constructor of DDP in torch 2.13.
    """
    wanted = {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_FILE": str(record / "captures" / "nccl-%p.log"),
        "TORCH_DISTRIBUTED_DEBUG": "INFO",
        "TORCH_CPP_LOG_LEVEL": "INFO",
        "TORCH_SHOW_CPP_STACKTRACES": "1",
        "CUDA_LAUNCH_BLOCKING": "1",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
        "TORCH_NCCL_DESYNC_DEBUG": "1",
        "TORCH_NCCL_ENABLE_TIMING": "1",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "TORCH_FR_DUMP_TEMP_FILE": str(record / "captures" / "nccl-trace-"),
    }
    return {name: value for name, value in wanted.items() if name not in environ}
