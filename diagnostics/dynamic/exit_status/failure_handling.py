"""What became of the failure of a training process in a job that says 0: dropped, handled, made good. Pure.

The job's exit code is doubted only where it can be seen that nobody looked. What a parent read, what a script tested
and what a test expected was dealt with by design.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.wording import sentence
from diagnostics.dynamic.exit_status.masked_exit_lines import masking_script_lines
from diagnostics.dynamic.exit_status.python_exit_status import looks_at_products_of, of_python, starts_conditionally
from diagnostics.dynamic.exit_status.runner_commands import advice, drops_code
from diagnostics.dynamic.exit_status.shell_scripts import command_of, script_of
from diagnostics.dynamic.failures.native_crash import is_fault
from diagnostics.dynamic.failures.teardown import is_teardown
from diagnostics.dynamic.job.evidence import ended_s, how_it_ended, interrupted_s, names_of, program
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_kinds import test_runner
from diagnostics.dynamic.launch.kill_commands import time_limit
from diagnostics.dynamic.launch.launch_settings import MAKE, lines_with
from diagnostics.static.launch_files.background_jobs import Jobs
from diagnostics.static.launch_files.file_checks import checks_files_after
from diagnostics.static.launch_files.shell_commands import SHELLS, CommandContext
from diagnostics.static.launch_files.shell_exit_status import OWN_STATUS, is_conditional, status_of
from diagnostics.static.launch_files.shell_parser import Simple
from diagnostics.static.launch_files.status_flow import Fate

ORPHAN_REAPED = "supervisor-wait"  # the doctor waited for it: whoever had started it was over
_UNFLUSHED = 120  # Python's code where its output could not be written at the end
_INTERRUPTS = ("KeyboardInterrupt", "SystemExit", "SignalException")  # how Python programs answer signals
_ASKING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# What a makefile reads the status or the product of a command with.
_MAKE_READS = re.compile(r"\.SHELLSTATUS|\$\(wildcard|(?:\[\[?|\btest)\s+(?:!\s+)?-[efsdr]\s")
_ADVICE = {
    "script": "begin the script with `set -euo pipefail`, and let nothing swallow the code",
    "declared": "assign it on a line of its own, where the status counts: `local x; x=$(...)`",
    "python": "use subprocess.run(..., check=True), read exitcode after join(), and pass the code on",
    "future": "keep the future and ask it for its result(), which raises what the job raised",
    "make": "take the `-` before the recipe line away, and do not run make with -i",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFate:
    """Of one failed process. `who` is the program that took its failure for success, or dealt with it."""

    process: JobProcess
    fate: Fate
    who: str = ""
    how: str = ""
    places: tuple[str, ...] = ()
    advice: str = "pass the exit code on"

    @property
    def sentence(self) -> str:
        """What happened and who dealt with it, for a note."""
        dealt = self.how or "what became of that is not known"
        return f"{sentence(names_of((self.process,)))} ({program(self.process)}) {how_it_ended(self.process)}; {dealt}"


def failure_fates(job: Job) -> tuple[FailureFate, ...]:
    """Returns the fate of each failure that counts in a job, by the time of its end."""
    counted = [process for process in job.processes if _counts(job, process)]
    return tuple(_fate(job, process) for process in sorted(counted, key=ended_s))


def _fate(job: Job, process: JobProcess) -> FailureFate:
    again = _ran_again(job, process)
    if any(one.argv == process.argv for one in again):
        return FailureFate(process=process, fate=Fate.HANDLED, how="the same command ran again, to a good end")
    below, above = _boundary(job, process)
    runner = _test_runner(job, above)
    if runner:
        return FailureFate(process=process, fate=Fate.HANDLED, how=f"the tests that {runner} ran passed")
    if _may_be_killed(process, process) and time_limit(job, process, signal.SIGTERM) is not None:
        return FailureFate(process=process, fate=Fate.HANDLED, how="its time limit ended it")
    if below.end.source == ORPHAN_REAPED and not again and not (above and _ended_by_script(job, process, below, above)):
        return FailureFate(
            process=process, fate=Fate.DROPPED, who="CMD" if above is None else program(above),
            how="it had ended before, and nobody waited",
            advice="wait for each job in the background by its pid (`wait $PID`), and pass its code on",
        )  # fmt: skip
    if above is None:
        return FailureFate(process=process, fate=Fate.UNKNOWN)
    fate = _received(job, process, below, above)
    if fate.fate is Fate.DROPPED and _looked_at_further_up(job, above):
        fate = FailureFate(process=process, fate=Fate.UNKNOWN)
    if fate.fate is Fate.DROPPED:  # what is not told by its code may be told by a file that is missing
        again = [one for one in again if _under_condition(job, one, above)]
    if fate.fate is not Fate.HANDLED and again:
        return FailureFate(process=process, fate=Fate.HANDLED, how="the same program ran again, to a good end")
    return fate


def _boundary(job: Job, process: JobProcess) -> tuple[JobProcess, JobProcess | None]:
    """Returns the last process upwards that failed with `process`, and the one above it, which did not."""
    below, above = process, job.of_pid(process.parent_pid)
    for _ in range(len(job.processes)):
        if above is None or not above.failed or above.parent_pid == above.pid:
            break
        below, above = above, job.of_pid(above.parent_pid)
    return below, above


def _received(job: Job, process: JobProcess, below: JobProcess, above: JobProcess) -> FailureFate:
    """Asks the program above about the failure of the one below it."""
    name = PurePosixPath(above.argv[0]).name.lstrip("-") if above.argv else ""
    if name in SHELLS:
        return _by_script(job, process, below, above)
    if name in MAKE:  # it ends with an error of its own, unless it was told to ignore that of the recipe
        places = masking_script_lines(job, process)
        if lines_with(job, _MAKE_READS, "shell"):
            return FailureFate(process=process, fate=Fate.UNKNOWN)
        return FailureFate(
            process=process, fate=Fate.DROPPED, who="make", how="make was told to ignore it", places=places,
            advice=_ADVICE["make"],
        )  # fmt: skip
    if dropped := drops_code(above.argv):
        return FailureFate(
            process=process, fate=Fate.DROPPED, who=name, how=dropped, places=_lines_of(job, above),
            advice=advice(above.argv),
        )  # fmt: skip
    flow = of_python(job, above, below)
    told = (flow.by_exception and not flow.unasked) or flow.recorded
    sweep = told and any(_is_other_trial(job, one, process, below, above) for one in job.processes)
    return FailureFate(
        process=process,
        fate=Fate.HANDLED if sweep and flow.fate is Fate.DROPPED else flow.fate,  # one trial of many
        who=f"its parent ({program(above)})",
        how=flow.how,
        places=flow.places,
        advice=_ADVICE["future" if flow.unasked else "python"],
    )


def _lines_of(job: Job, below: JobProcess) -> tuple[str, ...]:
    """Returns the line of the script that runs a program; () where its parent is no script."""
    shell = job.of_pid(below.parent_pid)
    script = script_of(job, shell) if shell is not None else None
    started = command_of(script, below) if script is not None else ()
    return tuple(f"{script.file}:{one.tokens[0].line}" for one in started if script is not None and script.file)


def _by_script(job: Job, process: JobProcess, below: JobProcess, shell: JobProcess) -> FailureFate:
    """Follows the status through the script; a part of it may run in a copy of its shell."""
    unknown = FailureFate(process=process, fate=Fate.UNKNOWN)
    while below.argv == shell.argv:
        inner = [one for one in job.children_of(below) if one.failed]
        if not inner:
            return unknown
        below = inner[-1]
    script = script_of(job, shell)
    if script is None:
        return unknown
    killed = _may_be_killed(process, below)
    started = command_of(script, below)
    flows = [status_of(ran, script.commands, killed=killed) for ran in started]
    if not flows or len({one.fate for one in flows}) > 1:
        return unknown
    flow = flows[0]
    asked = killed and _was_asked_to_end(below) and any(map(Jobs(script.commands).is_job, started))
    if flow.fate is Fate.DROPPED and asked:  # another script may have ended it
        return unknown
    if flow.fate is Fate.DROPPED and _lost_its_reader(process) and any(map(_is_read_in_part, started)):
        return unknown  # `| head -1` had seen enough
    if flow.fate is Fate.PASSED:  # and yet the shell said 0: it was not this command
        return unknown
    told = tuple(f"{one.file or script.file}:{one.line}" for one in flow.at if one.file or script.file)
    places = told or masking_script_lines(job, process)
    return FailureFate(
        process=process,
        fate=flow.fate,
        who="the script",
        how=flow.how,
        places=places,
        advice=_ADVICE["declared" if OWN_STATUS in flow.how else "script"],
    )


def _ended_by_script(job: Job, process: JobProcess, below: JobProcess, shell: JobProcess) -> bool:
    """Whether a script that did not wait for a process may have ended it."""
    script = script_of(job, shell)
    started = command_of(script, below) if script is not None else ()
    return script is not None and _may_be_killed(process, below) and any(map(Jobs(script.commands).may_end, started))


def _may_be_killed(process: JobProcess, below: JobProcess) -> bool:
    """Whether a signal may have ended a process, or what started it: not a fault or an error of its own.

    Programs answer a signal as they like: with a code, with an exception of their own.
    """
    error = process.uncaught
    own_error = error is not None and error.type.rpartition(".")[2] not in _INTERRUPTS
    return not own_error and not any(is_fault(one.end.signal) for one in (process, below))


def _was_asked_to_end(process: JobProcess) -> bool:
    """Whether a signal that asks for an end, or the code that stands for it, ended a process."""
    codes = [128 + number for number in _ASKING]
    return process.end.signal in _ASKING or process.end.exit_code in codes


def _lost_its_reader(process: JobProcess) -> bool:
    broken = process.uncaught is not None and process.uncaught.type == "BrokenPipeError"
    return broken or process.end.signal == signal.SIGPIPE or process.end.exit_code == _UNFLUSHED


def _is_read_in_part(ran: CommandContext) -> bool:
    """Whether what a command writes goes to one that may end before it."""
    last = ran.pipeline.commands[-1]
    words = [word.text for word in last.words] if isinstance(last, Simple) else []
    return last is not ran.command and words[:1] not in (["tee"], ["cat"])


def _looked_at_further_up(job: Job, above: JobProcess) -> bool:
    """Whether a script or program above the one that dropped a failure looks at what was to be left behind."""
    below, upper = above, job.of_pid(above.parent_pid)
    for _ in range(len(job.processes)):
        if upper is None or upper.pid == below.pid:
            return False
        script = script_of(job, upper)
        if script is not None and any(checks_files_after(one, script.commands) for one in command_of(script, below)):
            return True
        if looks_at_products_of(job, upper, below):
            return True
        below, upper = upper, job.of_pid(upper.parent_pid)
    return False


def _under_condition(job: Job, process: JobProcess, top: JobProcess) -> bool:
    """Whether `process` was started, below `top`, in a branch that is not always taken."""
    below, above = process, job.of_pid(process.parent_pid)
    for _ in range(len(job.processes)):
        if above is None:
            return False
        script = script_of(job, above)
        if script is not None and any(map(is_conditional, command_of(script, below))):
            return True
        if starts_conditionally(job, above, below):
            return True
        if above.pid == top.pid:
            return False
        below, above = above, job.of_pid(above.parent_pid)
    return False


def _test_runner(job: Job, above: JobProcess | None) -> str:
    """Returns the runner of tests among the processes above that said 0: then the failure was expected; else ""."""
    for _ in range(len(job.processes)):
        if above is None:
            return ""
        found = test_runner(above.argv)
        if found and not above.failed:
            return found
        above = job.of_pid(above.parent_pid) if above.parent_pid != above.pid else None
    return ""


def _counts(job: Job, process: JobProcess) -> bool:
    """Whether a process is one whose failure costs work: a rank, no helper; ended by nobody, and before its work."""
    trains = process.part in (ProcessRole.RANK, ProcessRole.LAUNCHER) or (
        process.part is ProcessRole.HELPER and process.steps > 0
    )
    if not trains or not process.failed or ended_s(process) >= interrupted_s(job):
        return False
    if process.ended_by not in ("", "unknown") or is_teardown(job, process):
        return False
    return _trains(process) or not any(_made_work(one) and program(one) != program(process) for one in job.ranks)


def _is_other_trial(job: Job, one: JobProcess, process: JobProcess, below: JobProcess, above: JobProcess) -> bool:
    """Whether `one` is of a run of the same program that went well: not of the training that failed."""
    if not _made_work(one) or program(one) != program(process):
        return False
    top = one
    while top.parent_pid not in (above.pid, top.pid) and (upper := job.of_pid(top.parent_pid)) is not None:
        top = upper
    beside = one.began_s < ended_s(process) and process.began_s < ended_s(one)
    return top.pid != below.pid and not (beside and one.rank != process.rank)


def _made_work(process: JobProcess) -> bool:
    return process.steps > 0 and process.end.exit_code == 0


def _trains(process: JobProcess) -> bool:
    """Whether a process got as far as an optimizer: a check that fails before the training is there to fail."""
    return process.steps > 0 or (process.agent is not None and process.agent.last_event("optimizer", "ddp") is not None)


def _ran_again(job: Job, process: JobProcess) -> list[JobProcess]:
    """Returns later runs of the same program to a good end: a retry, an elastic restart, a smaller batch."""
    return [
        one
        for one in job.processes
        if one.began_s > process.began_s
        and one.end.exit_code == 0
        and one.part is process.part
        and one.rank == process.rank
        and program(one) == program(process)
        and (process.end.at_s is None or one.began_s >= process.end.at_s - 1.0)
        and not _goes_on_from_another(job, one, process)
    ]


def _goes_on_from_another(job: Job, later: JobProcess, process: JobProcess) -> bool:
    """Whether a later run has more of its command from an earlier one than from `process`: the next round of that one.

    A server starts `client.py 0`, `client.py 1` and `client.py 2` in each round; a retry is most like what failed.
    """
    alike = _words_in_common(later, process)
    return any(
        _words_in_common(later, one) > alike
        for one in job.processes
        if one is not process and one.began_s < later.began_s and program(one) == program(process)
    )


def _words_in_common(one: JobProcess, other: JobProcess) -> int:
    return sum(each == same for each, same in zip(one.argv, other.argv, strict=False))
