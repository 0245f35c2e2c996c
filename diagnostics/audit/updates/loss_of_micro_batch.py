"""A compute_loss of transformers gives the mean over its own micro-batch, and nothing divides by their number.

What it does: flags a `compute_loss` of a class derived from Trainer that is given `num_items_in_batch`, never looks at
it, and gives a mean over what it was given, in a project that accumulates gradients over several micro-batches and
trains a language model of transformers.

Why it matters: where the model takes the arguments of its loss, Trainer.training_step() does not divide the loss by
gradient_accumulation_steps: compute_loss is to divide by num_items_in_batch, the tokens of all micro-batches. The sum
of 16 means is a gradient 16 times too large, which clipping may hide, and short micro-batches count as much as long.

Bad:

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        ...
        loss = loss.sum() / valid.sum()

Good:

        count = valid.sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss.sum() / count

or `self.model_accepts_loss_kwargs = False` behind super().__init__(), in transformers 5 also `loss_is_scaled_for_ga`.

What it cannot see: numbers of micro-batches given on a command line that is not part of the project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.torch_code.module_classes import ModuleHierarchy

CODE = "A341"
NAME = "loss-of-micro-batch"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("compute_loss",)
SUBJECT = ("compute_loss",)
CHECKLIST = "losses of accumulated micro-batches are divided by the items of all of them"
_TRAINERS = frozenset(["transformers.Trainer", "transformers.Seq2SeqTrainer"])
_ITEMS = "num_items_in_batch"
_STEPS = "gradient_accumulation_steps"
# Who sees to the division, where compute_loss does not.
_SEES_TO_IT = frozenset([_STEPS, "current_" + _STEPS, "model_accepts_loss_kwargs", "loss_is_scaled_for_ga"])
_OVERRIDES = frozenset(["training_step", "get_batch_samples", "_get_num_items_in_batch"])
# transformers' models for text, whose forward takes the arguments of its loss.
_MODELS = re.compile(r"(?:ForCausalLM|ForConditionalGeneration|ForImageTextToText)$")
_GIVEN = re.compile(rf"{_STEPS}[\"']?\s{{0,4}}[:=\s]\s{{0,4}}(\d{{1,6}})")
_LOSSES = frozenset(["cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss", "mse_loss", "kl_div"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the losses that nothing divides."""
    if file.is_test:
        return
    hierarchy = project.fact(ModuleHierarchy)
    for function in project.functions_in(file):
        kind = project.class_of(function) if function.name.endswith(".compute_loss") else None
        known = hierarchy.by_syntax.get(id(kind)) if kind is not None else None
        if known is None or not hierarchy.roots(known) & _TRAINERS or not _ignores_items(function):
            continue
        if any(_sees_to_it(one.syntax) for one in (known, *hierarchy.bases(known))):
            continue
        mean = _mean(function)
        several = _accumulates(file, project) if mean is not None else None
        if mean is not None and several is not None and _trains_a_language_model(file, project):
            yield violation(
                file,
                mean,
                "this is the mean over one micro-batch, num_items_in_batch is not looked at, and Trainer leaves the "
                "division by gradient_accumulation_steps to compute_loss: the gradient is their sum",
                "divide a sum by num_items_in_batch where it is given; or self.model_accepts_loss_kwargs = False "
                "behind super().__init__(), loss_is_scaled_for_ga = False in transformers 5",
                steps=(
                    step(file, function.syntax, "is given num_items_in_batch, the items of all micro-batches"),
                    several,
                ),
                confidence=Confidence.LIKELY,
            )


def _ignores_items(function: Function) -> bool:
    """Whether a compute_loss is given the number of items and never reads it, nor hands the loss on to Trainer's."""
    arguments = getattr(function.syntax, "args", None)
    rest = arguments.kwarg.arg if isinstance(arguments, ast.arguments) and arguments.kwarg is not None else ""
    if _ITEMS not in function.parameters and not rest:
        return False
    for node in walk(function.syntax):
        if isinstance(node, ast.Name) and node.id in (_ITEMS, rest) and isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute) and node.attr == "compute_loss":
            return False
    return True


def _sees_to_it(kind: ast.ClassDef) -> bool:
    return any(
        getattr(one, "attr", getattr(one, "id", getattr(one, "arg", ""))) in _SEES_TO_IT
        or getattr(one, "name", "") in _OVERRIDES
        for one in walk(kind)
    )


def _mean(function: Function) -> ast.AST | None:
    """Returns where the loss that is given back becomes a mean, over labels that Trainer can count."""
    if not any(isinstance(one, ast.Constant) and one.value == "labels" for one in function.own_nodes):
        return None
    names = {
        one.id
        for node in function.nodes_of(ast.Return)
        for one in walk(node)
        if isinstance(one, ast.Name) and "loss" in one.id.lower()
    }
    found = [
        node
        for node in function.nodes_of((ast.Assign, ast.AugAssign, ast.Return))
        if any(_averages(one) for one in walk(node) if not _is_nothing(node))
        and (isinstance(node, ast.Return) or any(getattr(one, "id", "") in names for one in _targets(node)))
    ]
    return found[-1] if found else None


def _is_nothing(node: ast.AST) -> bool:
    """Whether a loss is multiplied by 0, to hold the graph together where there is nothing to learn."""
    return any(
        isinstance(one, ast.BinOp)
        and isinstance(one.op, ast.Mult)
        and isinstance(part, ast.Constant)
        and not part.value
        for one in walk(node)
        for part in (getattr(one, "left", None), getattr(one, "right", None))
    )


def _targets(node: ast.AST) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []


def _averages(one: ast.AST) -> bool:
    """Whether a part of an expression makes a mean: a sum by a count, mean(), a loss of torch that is not told else."""
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div):
        return not isinstance(one.right, ast.Constant)
    if isinstance(one, ast.AugAssign):
        return isinstance(one.op, ast.Div) and not isinstance(one.value, ast.Constant)
    if not isinstance(one, ast.Call):
        return False
    called = last_name(one.func)
    return called == "mean" or (called in _LOSSES and not any(each.arg == "reduction" for each in one.keywords))


def _accumulates(file: ProjectFile, project: Project) -> ExplanationStep | None:
    """Returns where a project says that it accumulates over several micro-batches."""
    around = project.fact(ImportClosures).around(file.shown)
    for shown in sorted(around):
        one = project.by_path[shown]
        if one.tree is None or _STEPS not in one.words:
            continue
        for node in walk(one.tree):
            if isinstance(node, ast.keyword) and node.arg == _STEPS and _is_several(node.value):
                return step(one, node.value, "the gradients of several micro-batches are summed")
    for one in project.audited:
        found = _GIVEN.search(one.text) if one.kind in (FileKind.SHELL, FileKind.YAML) else None
        if found is not None and int(found[1]) > 1:
            line = one.text.count("\n", 0, found.start()) + 1
            return ExplanationStep(place=one.place(line), text="the gradients of several micro-batches are summed")
    return None


def _is_several(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > 1


def _trains_a_language_model(file: ProjectFile, project: Project) -> bool:
    calls = project.fact(ImportClosures).around(file.shown)
    for function in project.functions:
        for node in function.nodes_of(ast.Call) if function.file in calls else ():
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in ("from_pretrained", "from_config"):
                name = project.name(called.value, function)
                if name.startswith("transformers.") and _MODELS.search(name):
                    return True
    return False
