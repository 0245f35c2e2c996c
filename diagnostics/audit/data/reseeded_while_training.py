"""A loop that trains sets the global random numbers back to the same state again and again.

What it does: flags a call inside a loop that trains which seeds torch's global generator with the same number in each
round: a probe that samples, an evaluation, a helper. Not one that puts the state back, or that seeds by the epoch.

Why it matters: training draws its order, its noise and its dropout from the same generator. After each evaluation it
draws the same ones again: it sees the first batches of the shuffle over and over, and most of the data never.

Bad:

    def sample(model):
        torch.manual_seed(0)

Good:

    def sample(model):
        generator = torch.Generator().manual_seed(0)     # or: with torch.random.fork_rng():

What it cannot see: seeds of which a configuration file says that they change, and draws that have their own generator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.traced_calls import is_optimizer
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.object_kinds import argument
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import is_step, own_calls
from diagnostics.static.torch_code.training_loops import Loop

CODE = "A178"
NAME = "reseeded-while-training"
SEVERITY = Severity.WARNING
RUN_CLASS = "rng-collision"
WORDS = ("for", "while")
CHECKLIST = "nothing seeds the global generator inside the training loop"
_SEEDS = {"torch.manual_seed": "seed", "torch.random.manual_seed": "seed", "lightning.pytorch.seed_everything": "seed",
          "transformers.set_seed": "seed", "accelerate.utils.set_seed": "seed",
          "lightning.seed_everything": "seed", "pytorch_lightning.seed_everything": "seed"}  # fmt: skip
_RESTORES = frozenset(["fork_rng", "set_rng_state", "get_rng_state", "setstate", "isolate_rng", "preserve_rng_state"])
_MOVES = re.compile(r"epoch|step|iter|round|rank|index|\bidx|fold|trial|run", re.IGNORECASE)
_DEPTH = 3
Bindings = dict[str, bool]  # whether a name is the same in each round


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls by which a training loop begins its random numbers anew."""
    seen: set[int] = set()
    for function in () if file.is_test else project.functions_in(file):
        for loop in function.nodes_of((ast.For, ast.While)):
            if not isinstance(loop, (ast.For, ast.While)) or not _trains(loop, function, project):
                continue
            moves = {node.id for node in walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            calls = list(own_calls(loop.body))
            if any(last_name(one.func) in _RESTORES for one in calls):
                continue
            for call in calls:
                found = _seed(call, function, dict.fromkeys(moves, False), project, _DEPTH)
                if found is None or id(call) in seen or _is_first_round(call, loop, file):
                    continue
                seen.add(id(call))
                at, where = found
                yield violation(
                    file,
                    call,
                    f"'{ast.unparse(at)[:50]}' sets the global random numbers back to the same state in the midst of "
                    "the training: it draws the same order, noise and dropout behind it again",
                    "give what samples a generator of its own, torch.Generator().manual_seed(seed), or put it into "
                    "torch.random.fork_rng()",
                    steps=(
                        step(file, loop, "this loop trains"),
                        step(project.file_with(where), at, "the global generator is seeded here"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _trains(loop: Loop, function: Function, project: Project) -> bool:
    """Whether a loop makes training steps, of one model: what makes an optimizer in each round trains several."""
    steps = False
    for call in own_calls(loop.body):
        if is_optimizer(project.name(call.func, function)):
            return False
        steps = steps or (is_step(call) and last_name(call.func) in ("backward", "step"))
        for one in project.targets(call, function):
            inner = [node for node in one.nodes_of(ast.Call) if isinstance(node, ast.Call)]
            if any(is_optimizer(project.name(node.func, one)) for node in inner):
                return False
            steps = steps or any(is_step(node) and last_name(node.func) in ("backward", "step") for node in inner)
    return steps


def _seed(
    call: ast.Call, function: Function, known: Bindings, project: Project, depth: int
) -> tuple[ast.Call, Function] | None:
    """Returns the seeding that a call comes to with a number that is the same in each round."""
    parameter = _SEEDS.get(project.name(call.func, function))
    if parameter is not None:
        given = argument(call, parameter, (parameter,))
        return (call, function) if given is not None and _is_fixed(given, function, known) else None
    for one in project.targets(call, function) if depth else ():
        calls = [node for node in one.nodes_of(ast.Call) if isinstance(node, ast.Call)]
        if any(last_name(node.func) in _RESTORES for node in calls) or one.is_generator:
            continue
        inner: Bindings = {}
        for name in one.parameters[one.implied :]:
            value = argument(call, name, one.parameters[one.implied :])
            default = default_of(one, name)
            inner[name] = _is_fixed(value, function, known) if value is not None else (
                isinstance(default, ast.Constant) and default.value is not None)  # fmt: skip
        for node in calls:
            found = _seed(node, one, inner, project, depth - 1)
            if found is not None:
                return found
    return None


def _is_fixed(value: ast.expr, function: Function, known: Bindings) -> bool:
    """Whether a value is a number that no round changes."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int)
    if any(isinstance(node, ast.Call) and last_name(node.func) != "int" for node in walk(value)):
        return False
    for node in walk(value):
        if isinstance(node, (ast.Name, ast.Attribute)) and _MOVES.search(last_name(node)):
            return False
        if isinstance(node, ast.Name) and not known.get(node.id, node.id not in function.assigned
                                                        or _is_number(function, node.id)):  # fmt: skip
            return False
    return True


def _is_number(function: Function, name: str) -> bool:
    values = function.assigned.get(name, [])
    return len(values) == 1 and (isinstance(values[0], ast.Constant) or "parse_args" in ast.unparse(values[0]))


def _is_first_round(call: ast.Call, loop: Loop, file: ProjectFile) -> bool:
    """Whether a call stands under a test that holds in one round: `if step == 0`."""
    outer = file.parents.get(call)
    while outer is not None and outer is not loop:
        if isinstance(outer, ast.If) and any(isinstance(node, ast.Eq) for one in walk(outer.test)
                                             if isinstance(one, ast.Compare) and isinstance(one.left, ast.Name)
                                             for node in one.ops):  # fmt: skip
            return True
        if isinstance(outer, ast.With) and "rng" in ast.unparse(outer.items[0]):
            return True
        outer = file.parents.get(outer)
    return False
