"""Every data worker is seeded alike.

What it does: flags functions given as worker_init_fn that seed numpy or Python's random with a number that is the same
in each worker, where the program draws from that generator.

Why it matters: all workers of all ranks then draw the same numbers: each augmentation is made num_workers times world
size times over, and again in every epoch, since workers are started anew. The data looks random and is not.

Bad:

    def worker_init(worker_id):
        np.random.seed(42)

Good:

    def worker_init(worker_id):
        np.random.seed(torch.initial_seed() % 2**32)     # another one for each worker and epoch

What it cannot see: generators that a data set makes for itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.workers import copied_generators, seeded_alike
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A160"
NAME = "same-seed-in-workers"
SEVERITY = Severity.WARNING
RUN_CLASS = "rng-collision"
WORDS = ("worker_init_fn", "DataLoader")
CHECKLIST = "data workers are seeded differently"
_DRAWS = {"numpy.random.seed": "np.random", "random.seed": "random"}
# Whatever differs between workers, or may.
_DIFFERS = re.compile(r"initial_seed|get_worker_info|SeedSequence|worker|rank|base_seed|urandom|time|getpid|get_state")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the seeds that all workers share."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loader, generator in copied_generators(execution):
        if generator.node is None:
            continue
        yield violation(
            home(generator, project),
            generator.node,
            "each data worker gets a copy of this generator of the data set, and draws the same numbers from it: what "
            "is random in a sample repeats from worker to worker, and in each epoch",
            "draw from torch's or numpy's generator of the worker, or make one in worker_init_fn from "
            "torch.initial_seed()",
            steps=(shown(loader, project, "its workers begin with what was made before them"),),
            confidence=Confidence.LIKELY,
        )
    for seeded, read in seeded_alike(execution):
        yield violation(
            home(seeded, project),
            seeded.node,
            "nothing of the worker goes into this seed: all data workers draw the same numbers, and again in each "
            "epoch in which they are started anew",
            "seed with torch.initial_seed() % 2**32, which is another number for each worker and epoch",
            steps=(shown(read, project, "this loader's workers are seeded so"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for call, function in project.calls_in(file):
        given = next((one.value for one in call.keywords if one.arg == "worker_init_fn"), None)
        for target in project.meant(given, function) if given is not None else ():
            yield from _alike(call, target, file, project)


def _alike(loader: ast.Call, target: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    for node in target.own_nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        drawn = _DRAWS.get(project.name(node.func, target))
        if drawn is None or not _is_shared(node.args[0], target):
            continue
        home = project.file_with(target)
        draws = any(re.search(rf"(?<![\w.]){re.escape(drawn)}\.(?!seed)\w+\(", one.text) for one in project.python)
        yield violation(
            home,
            node,
            f"every data worker is seeded with {ast.unparse(node.args[0])}: all draw the same numbers from {drawn}, "
            "and again in each epoch",
            f"{ast.unparse(node.func)}(torch.initial_seed() % 2**32)",
            steps=(step(file, loader, "the loader's workers run it at their start"),),
            confidence=Confidence.CONFIRMED if draws else Confidence.POSSIBLE,
        )


def _is_shared(seed: ast.expr, target: Function) -> bool:
    """Whether a seed is a literal, or a name that no parameter of the function and nothing of a worker goes into."""
    own = set(target.parameters)
    texts = [ast.unparse(seed)]
    if isinstance(seed, ast.Name):
        texts += [ast.unparse(one) for one in target.assigned.get(seed.id, ())]
    if any(_DIFFERS.search(text) for text in texts) or any(set(re.findall(r"\w+", text)) & own for text in texts):
        return False
    return isinstance(seed, ast.Constant) or (isinstance(seed, ast.Name) and len(texts) == 1)
