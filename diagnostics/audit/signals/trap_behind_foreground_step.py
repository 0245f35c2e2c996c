"""A batch script has a trap for Slurm's signal, and runs its training in the foreground.

What it does: flags scripts with `#SBATCH --signal=B:USR1@300`, which has Slurm send that signal to the shell alone, a
`trap` for it, and a training that is neither put in the background and waited for, nor started by `exec`.

Why it matters: a shell runs a trap only when its foreground command has ended. The training goes on until the time
limit kills it, the trap comes too late or never, and the checkpoint and the requeue that were its purpose do not
happen.

Bad:

    trap requeue USR1
    srun python train.py

Good:

    trap requeue USR1
    srun python train.py &
    wait $!

What it cannot see: traps and trainings in files that the script sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.audit.signals.batch_signal import head, sent, traps
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.background_jobs import Jobs, is_in_function
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A618"
NAME = "trap-behind-foreground-step"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
WORDS = ("trap",)
CHECKLIST = "a batch script with a trap waits for a training in the background"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the trainings behind which a trap waits."""
    for script in embedded_scripts(file):
        signal = sent(script)
        trap = next((one for one in script.commands if signal and traps(one, signal)), None)
        if trap is None:
            continue
        jobs = Jobs(script.commands)
        later = script.commands.index(trap)
        for at, ran in enumerate(script.commands):
            found = training(ran, file, project) if at > later or is_in_function(ran) else None
            if found is None or jobs.is_job(ran) or ran.words[0] == "exec" or ran.outer is not None:
                continue
            line, column = place(file, ran)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"the shell runs its trap for {signal} only when '{found.shown}' has ended, and Slurm sends the "
                "signal to the shell alone: the trap comes too late",
                fix="put it in the background and wait: ... & wait $!; or exec it, and let the program have the signal",
                steps=(
                    ExplanationStep(place=file.place(head(script)), text=f"{signal} is sent to the shell"),
                    ExplanationStep(place=file.place(place(file, trap)[0]), text="which is to answer it here"),
                ),
                confidence=Confidence.LIKELY,
            )
            break
