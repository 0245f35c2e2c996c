"""What became of the failure of a training process in a job that says 0: dropped, handled, made good. Pure.

The job's exit code is doubted only where it can be seen that nobody looked. What a parent read, what a script tested
and what a test expected was dealt with by design.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.wording import sentence
from diagnostics.dynamic.exit_status.masked_exit_lines import hiding_script_lines
from diagnostics.dynamic.exit_status.python_exit_status import of_python, starts_conditionally
from diagnostics.dynamic.exit_status.shell_scripts import command_of, script_of
from diagnostics.dynamic.failures.teardown import is_teardown
from diagnostics.dynamic.job.evidence import ended_s, how_it_ended, interrupted_s, named, program
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_kinds import test_runner
from diagnostics.dynamic.launch.launch_settings import MAKE
from diagnostics.static.launch_files.shell_commands import SHELLS
from diagnostics.static.launch_files.shell_exit_status import Fate, is_conditional, status_of

ORPHAN_REAPED = "supervisor-wait"  # the doctor waited for it: whoever had started it was over
_ADVICE = {
    "script": "begin the script with `set -euo pipefail`, and let nothing swallow the code",
    "python": "use subprocess.run(..., check=True), read exitcode after join(), and pass the code on",
    "make": "take the `-` before the recipe line away, and do not run make with -i",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFate:
    """Of one failed process. `who` is the program that took its failure for success, or dealt with it."""

    story: JobProcess
    fate: Fate
    who: str = ""
    how: str = ""
    places: tuple[str, ...] = ()
    advice: str = "pass the exit code on"

    @property
    def sentence(self) -> str:
        """What happened and who dealt with it, for a note."""
        dealt = self.how or "what became of that is not known"
        return f"{sentence(named((self.story,)))} ({program(self.story)}) {how_it_ended(self.story)}; {dealt}"


def failure_fates(case: Job) -> tuple[FailureFate, ...]:
    """Returns the fate of each failure that counts in a job, by the time of its end."""
    counted = [story for story in case.processes if _counts(case, story)]
    return tuple(_fate(case, story) for story in sorted(counted, key=ended_s))


def _fate(case: Job, story: JobProcess) -> FailureFate:
    again = _ran_again(case, story)
    if any(one.argv == story.argv for one in again):
        return FailureFate(story=story, fate=Fate.HANDLED, how="the same command ran again, to a good end")
    below, above = _boundary(case, story)
    runner = _test_runner(case, above)
    if runner:
        return FailureFate(story=story, fate=Fate.HANDLED, how=f"the tests that {runner} ran passed")
    if below.end.source == ORPHAN_REAPED and not again:
        return FailureFate(
            story=story, fate=Fate.DROPPED, who="CMD" if above is None else program(above),
            how="it had ended before, and nobody waited",
            advice="wait for each job in the background by its pid (`wait $PID`), and pass its code on",
        )  # fmt: skip
    if above is None:
        return FailureFate(story=story, fate=Fate.UNKNOWN)
    fate = _received(case, story, below, above)
    if fate.fate is Fate.DROPPED:  # what is not told by its code may be told by a file that is missing
        again = [one for one in again if _under_condition(case, one, above)]
    if fate.fate is not Fate.HANDLED and again:
        return FailureFate(story=story, fate=Fate.HANDLED, how="the same program ran again, to a good end")
    return fate


def _boundary(case: Job, story: JobProcess) -> tuple[JobProcess, JobProcess | None]:
    """Returns the last process upwards that failed with `story`, and the one above it, which did not."""
    below, above = story, case.of_pid(story.parent_pid)
    for _ in range(len(case.processes)):
        if above is None or not above.failed or above.parent_pid == above.pid:
            break
        below, above = above, case.of_pid(above.parent_pid)
    return below, above


def _received(case: Job, story: JobProcess, below: JobProcess, above: JobProcess) -> FailureFate:
    """Asks the program above about the failure of the one below it."""
    name = PurePosixPath(above.argv[0]).name.lstrip("-") if above.argv else ""
    if name in SHELLS:
        return _by_script(case, story, below, above)
    if name in MAKE:  # it ends with an error of its own, unless it was told to ignore that of the recipe
        places = hiding_script_lines(case, story)
        return FailureFate(
            story=story, fate=Fate.DROPPED, who="make", how="make was told to ignore it", places=places,
            advice=_ADVICE["make"],
        )  # fmt: skip
    flow = of_python(case, above, below)
    sweep = flow.by_exception and any(_made_work(one) and program(one) == program(story) for one in case.processes)
    return FailureFate(
        story=story,
        fate=Fate.HANDLED if sweep and flow.fate is Fate.DROPPED else flow.fate,  # one trial of many
        who=f"its parent ({program(above)})",
        how=flow.how,
        places=flow.places,
        advice=_ADVICE["python"],
    )


def _by_script(case: Job, story: JobProcess, below: JobProcess, shell: JobProcess) -> FailureFate:
    """Follows the status through the script; a part of it may run in a copy of its shell."""
    unknown = FailureFate(story=story, fate=Fate.UNKNOWN)
    while below.argv == shell.argv:
        inner = [one for one in case.children_of(below) if one.failed]
        if not inner:
            return unknown
        below = inner[-1]
    script = script_of(case, shell)
    if script is None:
        return unknown
    flows = [status_of(ran, script.commands, killed=below.end.signal is not None) for ran in command_of(script, below)]
    if not flows or len({one.fate for one in flows}) > 1:
        return unknown
    flow = flows[0]
    if flow.fate is Fate.PASSED:  # and yet the shell said 0: it was not this command
        return unknown
    places = tuple(f"{script.file}:{line}" for line in flow.lines) if script.file else hiding_script_lines(case, story)
    return FailureFate(
        story=story, fate=flow.fate, who="the script", how=flow.how, places=places, advice=_ADVICE["script"]
    )


def _under_condition(case: Job, story: JobProcess, top: JobProcess) -> bool:
    """Whether `story` was started, below `top`, in a branch that is not always taken."""
    below, above = story, case.of_pid(story.parent_pid)
    for _ in range(len(case.processes)):
        if above is None:
            return False
        script = script_of(case, above)
        if script is not None and any(map(is_conditional, command_of(script, below))):
            return True
        if starts_conditionally(case, above, below):
            return True
        if above.pid == top.pid:
            return False
        below, above = above, case.of_pid(above.parent_pid)
    return False


def _test_runner(case: Job, above: JobProcess | None) -> str:
    """Returns the runner of tests among the processes above that said 0: then the failure was expected; else ""."""
    for _ in range(len(case.processes)):
        if above is None:
            return ""
        found = test_runner(above.argv)
        if found and not above.failed:
            return found
        above = case.of_pid(above.parent_pid) if above.parent_pid != above.pid else None
    return ""


def _counts(case: Job, story: JobProcess) -> bool:
    """Whether a process is one whose failure costs work: a rank, no helper; ended by nobody, and before its work."""
    trains = story.part in (ProcessRole.RANK, ProcessRole.LAUNCHER) or (
        story.part is ProcessRole.HELPER and story.steps > 0
    )
    if not trains or not story.failed or ended_s(story) >= interrupted_s(case):
        return False
    if story.ended_by not in ("", "unknown") or is_teardown(case, story):
        return False
    return _trains(story) or not any(_made_work(one) and program(one) != program(story) for one in case.ranks)


def _made_work(story: JobProcess) -> bool:
    return story.steps > 0 and story.end.exit_code == 0


def _trains(story: JobProcess) -> bool:
    """Whether a process got as far as an optimizer: a check that fails before the training is there to fail."""
    return story.steps > 0 or (story.agent is not None and story.agent.last_event("optimizer", "ddp") is not None)


def _ran_again(case: Job, story: JobProcess) -> list[JobProcess]:
    """Returns later runs of the same program to a good end: a retry, an elastic restart, a smaller batch."""
    return [
        one
        for one in case.processes
        if one.began_s > story.began_s
        and one.end.exit_code == 0
        and one.part is story.part
        and one.rank == story.rank
        and program(one) == program(story)
        and (story.end.at_s is None or one.began_s >= story.end.at_s - 1.0)
    ]
