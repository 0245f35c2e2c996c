"""A script waits for several trainings in the background and keeps the exit code of the last one alone.

What it does: flags `wait "$pid"` in a loop over the trainings that were started, without `set -e`, and `wait $a $b`,
where nothing looks at the code. Trainings that a function of the script starts are seen as well.

Why it matters: a loop ends with the code of its last round, and `wait` with that of its last job. All but one of the
trainings may have died in their first second: the script ends with 0, the sweep counts as done, and the next job in the
chain begins.

Bad:

    for pid in "${pids[@]}"; do wait "$pid"; done

Good:

    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    exit "${failed:-0}"

What it cannot see: results that the script looks at in another way than by `$?`; it is silent where it looks for files.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.background_jobs import Jobs
from diagnostics.static.launch_files.command_locations import levels, place, reads_status
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A519"
NAME = "wait-status-dropped"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "scripts keep the exit code of each training that they wait for"
_LOOPS = ("for", "while", "until")
_LOOKS = frozenset(["exit", "return", "grep", "wc", "cmp", "diff", "die", "sacct"])  # at what there is, or gives up
_FILES = frozenset(["-f", "-e", "-s", "-d"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the waits of which the script keeps the last code alone."""
    for script in embedded_scripts(file):
        commands = script.commands
        waits = [one for one in commands if _drops(one)]
        if not waits or any(_looks(one) for one in commands[commands.index(waits[0]) :]):
            continue
        jobs = Jobs(commands)
        for ran in commands:
            found = training(ran, file, project) if jobs.is_job(ran) and ran.outer is None else None
            wait = next((one for one, _ in jobs.waits_for(ran) if one in waits), None) if found is not None else None
            if found is None or wait is None:
                continue
            line, column = place(file, wait)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"of several '{found.shown}' in the background, the script keeps the exit code of the last one: "
                "where another one failed, it goes on and ends with 0",
                fix='wait "$pid" || failed=1, and exit "${failed:-0}" at the end',
                steps=(ExplanationStep(place=file.place(place(file, ran)[0]), text="one of them is started here"),),
                confidence=Confidence.LIKELY,
            )
            break


def _drops(wait: CommandContext) -> bool:
    """Whether a command waits for jobs one after the other, or for several, and nothing looks at each code."""
    if wait.words[:1] != ("wait",) or wait.tested or any(one.startswith("-") for one in wait.words[1:]):
        return False
    if wait.words[1:] == () or any("||" in each.operators or "&&" in each.operators for each, _, _ in levels(wait)):
        return False
    if any(reads_status([each, *after]) for each, _, after in levels(wait)):
        return False
    looped = "errexit" not in wait.options and any(one.kind in _LOOPS for one in wait.around)
    return looped or len(wait.words) > 2


def _looks(ran: CommandContext) -> bool:
    """Whether a command gives up under some condition, or looks for files."""
    if ran.words[:1] and ran.words[0] in _LOOKS:
        return len(ran.words) > 1 and ran.words[1] != "0"
    return ran.words[:1] in (("[",), ("[[",), ("test",)) and bool(_FILES & set(ran.words))
