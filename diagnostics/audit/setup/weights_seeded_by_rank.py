"""Each rank makes other weights, and nothing makes them the same.

What it does: flags models that are made after a seed that follows from the rank, where gradients are averaged by hand,
or FSDP is not told sync_module_states, and nothing hands out or loads the weights.

Why it matters: DDP broadcasts rank 0's weights when it wraps; a loop that averages gradients by itself does not, and
FSDP keeps of each rank's weights another part. The ranks add the same gradients to other weights: each trains a model
of its own, or a mixture of them, and the loss only looks a little worse.

Bad:

    torch.manual_seed(seed + rank)
    model = Net()

Good:

    torch.manual_seed(seed)
    model = Net()
    torch.manual_seed(seed + rank)       # for augmentation and dropout

What it cannot see: weights that the class itself draws from a generator of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions, differs_by_rank
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code import model_wrappers
from diagnostics.static.torch_code.module_classes import class_tree
from diagnostics.static.torch_code.seeds import seeds
from diagnostics.static.torch_code.training_functions import MANAGED

CODE = "A163"
NAME = "weights-seeded-by-rank"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "rank-divergence", "ranks"
WORDS = ("manual_seed", "seed", "set_seed", "seed_everything", "seed_all")
CHECKLIST = "every rank begins with the same weights"
_SEED = "torch.manual_seed"
# Words of programs that hand the weights out, or read them from a file.
_MADE_SAME = frozenset(
    ["load_state_dict", "broadcast_parameters", "sync_module_states", "from_pretrained", "broadcast_coalesced",
     "set_model_state_dict", "_sync_module_states", "initialize", *operations.TO_ALL]
)  # fmt: skip
_SUMS = tuple(f"torch.distributed.{one}" for one in operations.SUMS_FOR_ALL)
_DDP = "torch.nn.parallel.DistributedDataParallel"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the models that each rank makes with weights of its own."""
    if file.is_test or _MADE_SAME & project.fact(ImportClosures).words(file.shown):
        return
    for function in project.functions_in(file):
        calls = sorted(
            (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)), key=lambda one: one.lineno
        )
        seeded: ast.AST | None = None
        for call in calls:
            seeding = list(seeds(call, function, project, _SEED))
            if seeding:
                by_rank = any(differs_by_rank(one, where, project) for one, where in seeding)
                chosen = any(True for _ in conditions(call, function, file))
                seeded = call if by_rank and not chosen else None
            elif seeded is not None and _makes_model(call, function, project):
                needs = _needs_same(file, project)
                if needs is not None:
                    yield _hit(file, call, seeded, needs, project)
                seeded = None


def _hit(
    file: ProjectFile, call: ast.Call, seeded: ast.AST, needs: tuple[ast.AST, Function, str], project: Project
) -> Violation:
    return violation(
        file,
        call,
        "the model is made after a seed that follows from the rank, and nothing makes its weights the same: each rank "
        "trains another model",
        "seed all ranks alike before the model is made, and by rank afterwards; or broadcast rank 0's weights",
        steps=(
            step(file, seeded, "another seed on each rank"),
            step(file, call, "draws its weights"),
            step(project.file_with(needs[1]), needs[0], needs[2]),
        ),
        confidence=Confidence.LIKELY,
    )


def _makes_model(call: ast.Call, function: Function, project: Project, rounds: int = 2) -> bool:
    """Whether a call makes a module with weights, itself or by a function that gives one back."""
    name = project.name(call.func, function)
    if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper() and "Loss" not in name:
        return name != _DDP
    known = class_tree(project).named(call.func, function)
    if known is not None:
        return class_tree(project).is_module(known)
    if rounds == 0:
        return False
    return any(
        isinstance(node, ast.Return) and isinstance(node.value, ast.Call)
        and _makes_model(node.value, target, project, rounds - 1)
        for target in project.targets(call, function)
        for node in target.nodes_of(ast.Return)
    )  # fmt: skip


def _needs_same(file: ProjectFile, project: Project) -> tuple[ast.AST, Function, str] | None:
    """Returns what makes the ranks rely on equal weights: gradients averaged by hand, or FSDP; None with DDP."""
    closures = project.fact(ImportClosures)
    if next(closures.calls(file.shown, _DDP, *MANAGED), None) is not None:
        return None
    for call, function in closures.calls(file.shown, *(one for one in model_wrappers.WRAPPERS if one != _DDP)):
        return call, function, "each rank keeps its part of its own weights"
    for call, function in closures.calls(file.shown, *_SUMS):
        if any(_is_gradient_of_each(node, function) for one in call.args[:1] for node in walk(one)):
            return call, function, "gradients are averaged by hand"
    return None


def _is_gradient_of_each(node: ast.AST, function: Function) -> bool:
    """Whether it is `p.grad` of a loop over parameters; of one layer alone, ranks may hold other parts of a model."""
    if not (isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.value, ast.Name)):
        return False
    loops = function.nodes_of((ast.For, ast.comprehension))
    return any(
        isinstance(one, (ast.For, ast.comprehension))
        and any(isinstance(inner, ast.Name) and inner.id == node.value.id for inner in walk(one.target))
        for one in loops
    )
