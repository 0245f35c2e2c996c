"""Slurm sends its warning to the batch shell alone, which has no trap, and the program that answers it never gets it.

What it does: flags `#SBATCH --signal=B:USR1@300` in a script that has no trap for that signal, and whose training is no
`exec`, where the program has a handler for it.

Why it matters: `B:` means the batch shell, and only it. Without a trap the shell dies of the signal, minutes before the
time limit: the job ends without the checkpoint and the requeue that the handler was written for.

Bad:

    #SBATCH --signal=B:USR1@300
    srun python train.py

Good:

    #SBATCH --signal=USR1@300
    srun python train.py

What it cannot see: traps in files that the script sources, and handlers that a library sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.audit.signals.batch_signal import handled, head, sent, traps
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A624"
NAME = "signal-to-shell-without-trap"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
WORDS = ("SBATCH",)
CHECKLIST = "a batch system sends its signal to what answers it"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the signals that reach a shell without a trap."""
    for script in embedded_scripts(file):
        signal = sent(script)
        if not signal or any(one.words[:1] == ("trap",) and traps(one, signal) for one in script.commands):
            continue
        for ran in script.commands:
            found = training(ran, file, project)
            if found is None or found.program is None or ran.words[0] == "exec":
                continue
            answer = handled(signal, found.program, project)
            if answer is None:
                continue
            yield Violation(
                file=file,
                line=head(script),
                title=f"B: sends {signal} to the batch shell alone, which has no trap and dies of it: '{found.shown}', "
                "which has a handler, never gets it",
                fix=f"--signal={signal}@..., which goes to the steps that srun starts; or a trap that passes it on",
                steps=(
                    ExplanationStep(place=file.place(place(file, ran)[0]), text="the training, a child of the shell"),
                    ExplanationStep(place=answer[0].place(answer[1]), text=f"its handler for {signal}"),
                ),
                confidence=Confidence.LIKELY,
            )
            break
