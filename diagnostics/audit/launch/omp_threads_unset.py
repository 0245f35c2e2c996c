"""Several ranks are started by hand, and each takes all cores for its threads.

What it does: flags loops that start ranks in the background, mpirun with several processes and srun with several tasks
a machine where nothing sets OMP_NUM_THREADS. torchrun sets it to 1 itself.

Why it matters: each rank makes as many threads as the machine has cores. Eight ranks on 64 cores are 512 threads that
take the cores from each other: steps take several times as long, and nothing says why.

Bad:

    for RANK in 0 1 2 3; do RANK=$RANK python train.py & done

Good:

    export OMP_NUM_THREADS=$(( $(nproc) / 4 ))
    for RANK in 0 1 2 3; do RANK=$RANK python train.py & done

What it cannot see: what the program sets itself (torch.set_num_threads in its own file is looked for), and the cores
that Slurm or mpirun bind a rank to: there it is only possible.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.process_counts import loop_values
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A607"
NAME = "omp-threads-unset"
SEVERITY = Severity.INFO
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
CHECKLIST = "threads a rank are set where several ranks share a machine"
_NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_RANKS = frozenset(["RANK", "LOCAL_RANK"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the ranks that are started by hand without a word about their threads."""
    if not file.words.isdisjoint((*_NAMES, "cpus-per-task", "set_num_threads")):
        return
    for script in embedded_scripts(file):
        for ran in script.commands:
            found = training(ran, file, project)
            if found is None or (found.program is not None and "set_num_threads" in found.program.words):
                continue
            many = _by_hand(ran, found) or _by_mpi(script, found)
            if many is not None:
                count, how, confidence = many
                line, column = place(file, ran)
                yield Violation(
                    file=file,
                    line=line,
                    column=column,
                    title=f"{count} ranks of '{found.shown}' are started {how}, OMP_NUM_THREADS is not set: each takes "
                    "all cores",
                    fix=f"export OMP_NUM_THREADS=$(( $(nproc) / {count} ))",
                    confidence=confidence,
                )


def _by_hand(ran: CommandContext, found: Training) -> tuple[int, str, Confidence] | None:
    if len(found.layers) != 1 or found.layers[0].kind != "python" or not _RANKS & {*ran.environment}:
        return None
    loop = next((one for one in reversed(ran.around) if one.kind == "for"), None)
    values = loop_values(loop, ran) if loop is not None else None
    if not values or len(values) < 2 or not ran.and_or.background:
        return None
    return len(values), "in a loop", Confidence.LIKELY


def _by_mpi(script: Script, found: Training) -> tuple[int, str, Confidence] | None:
    outer = found.layers[0] if found.layers else None
    if outer is None or outer.kind not in ("mpirun", "mpiexec", "srun") or found.layers[-1].kind != "python":
        return None
    head = script.header("ntasks-per-node")
    count = outer.ranks_here or (int(head.value) if head is not None and head.value.isdigit() else 0)
    if count < 2 or any(any(name in word for name in _NAMES) for word in outer.launcher):
        return None
    return count, f"by {outer.kind}", Confidence.POSSIBLE
