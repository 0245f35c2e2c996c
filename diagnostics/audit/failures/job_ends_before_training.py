"""A batch script ends while the training that it put into the background has only begun: the job ends with it.

What it does: flags a training in the background of a script with #SBATCH or #PBS lines, also one that a function or a
loop of the script starts, where no `wait` stands anywhere and nothing behind it takes its time.

Why it matters: the scheduler's job is its batch script. Where that ends, the job is COMPLETED with 0, the machines are
given back, and what still runs on them is killed within seconds. The log ends in the middle of a line, no one reports a
failure, and the next job in the chain begins.

Bad:

    #SBATCH --gpus=8
    torchrun --nproc-per-node 4 train.py --lr 3e-4 &
    torchrun --nproc-per-node 4 train.py --lr 1e-3 &
    echo "started both"

Good:

    torchrun --nproc-per-node 4 train.py --lr 3e-4 & pids+=($!)
    torchrun --nproc-per-node 4 train.py --lr 1e-3 & pids+=($!)
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    exit "${failed:-0}"

What it cannot see: what commands that it does not know take: it is silent where one stands behind the training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.background_jobs import Jobs, in_trap, is_in_function
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.shell_commands import DECLARING, CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A518"
NAME = "job-ends-before-training"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
WORDS = ("SBATCH", "PBS")
CHECKLIST = "batch scripts wait for what they put into the background"
_OF_A_JOB = re.compile(r"^#(?:SBATCH|PBS)\s", re.MULTILINE)
# What is done at once. `sleep` is judged by its number.
_AT_ONCE = frozenset(
    ["echo", "printf", ":", "true", "date", "kill", "pkill", "killall", "set", "cd", "mkdir", "rm", "touch", "trap",
     "unset", "shift", "exit", "return", "disown", "hostname", "shopt", "ulimit", "[", "[[", "test", "((", "ls", "ps",
     "pwd", "umask", "break", "continue", "let", "squeue", "chmod", "ln", *DECLARING]
)  # fmt: skip
_LOOPS = ("for", "while", "until", "select")
_WAITS = frozenset(["wait", "fg"])
_SHORT_S = 600.0
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the first training of a batch script that is over before it has begun."""
    if _OF_A_JOB.search(file.text) is None:
        return
    for script in embedded_scripts(file):
        commands, jobs = script.commands, Jobs(script.commands)
        if any(_WAITS & set(one.words[:1]) for each in commands for one in (each, *_trapped(each))):
            continue
        for ran in commands:
            found = training(ran, file, project) if jobs.is_job(ran) and ran.outer is None else None
            if found is None or any(one.kind in ("while", "until") for one in ran.around):
                continue
            begun = _begun(ran, commands)
            if not begun or any(not _is_over_at_once(one, jobs, commands) for one in _behind(begun, commands)):
                continue
            line, column = place(file, ran)
            last = next(one for one in reversed(commands) if not is_in_function(one))
            starts = [ExplanationStep(place=file.place(place(file, begun[-1])[0]), text="is put into the background")]
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"nothing waits for '{found.shown}' in the background: the batch script ends at once, and the "
                "job with it, as COMPLETED; the training is killed",
                fix='pids+=($!) behind each start; at the end: for pid in "${pids[@]}"; do wait "$pid" || failed=1; '
                'done; exit "${failed:-0}"',
                steps=(
                    *(starts if begun[-1] is not ran else ()),
                    ExplanationStep(place=file.place(place(file, last)[0]), text="the script, and the job, end here"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _trapped(ran: CommandContext) -> tuple[CommandContext, ...]:
    return in_trap(ran) if ran.words[:1] == ("trap",) else ()


def _begun(ran: CommandContext, commands: tuple[CommandContext, ...], deep: int = 0) -> list[CommandContext]:
    """Returns the commands of the script itself that start a job: it, or the calls of the function that it is in."""
    if not is_in_function(ran):
        return [ran]
    names = {one.header[0].text for one in ran.around if one.kind == "function" and one.header}
    calls = [one for one in commands if one.words[:1] and one.words[0] in names]
    return [each for one in calls for each in _begun(one, commands, deep + 1)] if deep < 3 else []


def _behind(begun: list[CommandContext], commands: tuple[CommandContext, ...]) -> Iterator[CommandContext]:
    """Yields the commands of the script that run behind the last start, also in the next round of a loop around it."""
    last = commands.index(begun[-1])
    loops = {id(one) for start in begun for one in start.around if one.kind in _LOOPS}
    for at, one in enumerate(commands):
        again = any(id(around) in loops for around in one.around)
        if one not in begun and not is_in_function(one) and (at > last or again):
            yield one


def _is_over_at_once(ran: CommandContext, jobs: Jobs, commands: tuple[CommandContext, ...], deep: int = 0) -> bool:
    """Whether a command does not hold the script up."""
    if not ran.words or jobs.is_job(ran):
        return True
    if any(one.kind in ("while", "until") for one in ran.around):
        return False
    name = ran.words[0]
    if name == "sleep":
        return _seconds(ran.words[1:]) <= _SHORT_S
    if name == "nvidia-smi":
        return not {"dmon", "pmon", "-l", "-lms", "--loop"} & set(ran.words)
    if name in _AT_ONCE:
        return len(ran.pipeline.commands) == 1
    body = [one for one in commands if any(
        around.kind == "function" and around.header and around.header[0].text == name for around in one.around
    )]  # fmt: skip
    return bool(body) and deep < 3 and all(_is_over_at_once(one, jobs, commands, deep + 1) for one in body)


def _seconds(words: tuple[str, ...]) -> float:
    total = 0.0
    for one in words:
        told = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)", one)
        total += float(told[1]) * _UNITS[told[2]] if told is not None else float("inf")
    return total
