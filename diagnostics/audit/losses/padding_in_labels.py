"""Labels are a copy of padded tokens, and the padding in them is learned.

What it does: flags labels that are token ids as they are (`ids.clone()`, `labels=ids`), where these were padded in the
same function or in one that it calls, in a program that trains and in which nothing puts the ignored label in place of
padding, weighs the loss by a mask or has the pad token ignored.

Why it matters: the loss is averaged over padding, too. Short texts count by how much they were padded, the model learns
to write pad tokens, and the loss falls faster than anything is learned. With more padding in a batch, the gradients of
what matters get smaller.

Bad:

    batch = tokenizer(texts, padding=True, return_tensors="pt")
    batch["labels"] = batch["input_ids"].clone()

Good:

    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = -100
    batch["labels"] = labels

What it cannot see: batches that a loader elsewhere has padded, and texts that all have one length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.padded_tokens import padded_by

CODE = "A361"
NAME = "padding-in-labels"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("labels", "label", "targets", "target")
CHECKLIST = "padding is left out of the labels"
_LEARNED = frozenset(["labels", "label", "targets", "target", "lm_labels", "label_ids"])
_IDS = re.compile(r"(?:^|_)(?:ids|tokens?|input_ids)(?:$|_)")
_SAME = ("clone", "copy", "detach", "to", "long", "contiguous", "cuda", "deepcopy", "list")
_IGNORED = re.compile(r"ignore|label_pad|pad_label|mask_(?:id|value|index)", re.IGNORECASE)
_WEIGHTS = re.compile(r"(?:loss|label|target|completion|response|action|prompt|answer|output)s?_(?:mask|weight)s?")
_LEAVES_OUT = frozenset(
    ["DataCollatorForLanguageModeling", "DataCollatorForSeq2Seq", "DataCollatorForCompletionOnlyLM", "SFTTrainer",
     "DataCollatorForTokenClassification", "pack_padded_sequence", "ignore_pad"]
)  # fmt: skip
_TRAINS = frozenset(["backward", "Trainer", "TrainingArguments", "Accelerator", "LightningModule"])
_LOSSES = frozenset(["cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss", "log_softmax"])
_FILLS = frozenset(["where", "masked_fill", "masked_fill_", "full", "full_like", "fill_", "index_fill_", "pad",
                    "pad_sequence", "append", "extend", "scatter_"])  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the labels that hold padding."""
    closures = project.fact(ImportClosures)
    words = closures.words(file.shown)
    if file.is_test or not words & _TRAINS or words & _LEAVES_OUT or any(map(_WEIGHTS.fullmatch, words)):
        return
    around: list[Function] | None = None
    for function in project.functions_in(file):
        for node, value in _labels(function):
            padded = padded_by(value, function, project)
            if padded is None or _asks_mask(function):
                continue
            inside = closures.around(file.shown)
            around = around if around is not None else [one for one in project.functions if one.file in inside]
            if any(_leaves_out(one) for one in around) or not (_is_loss(node) or words & _LOSSES):
                return
            yield violation(
                file,
                node,
                "these labels are the tokens with their padding, and nothing takes the padding out: the loss is "
                "averaged over pad tokens, which are learned as well",
                "labels[attention_mask == 0] = -100, the label that the loss ignores",
                steps=(step(project.file_with(padded[1]), padded[0], "the tokens are padded here"),),
                confidence=Confidence.LIKELY,
            )


def _labels(function: Function) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields where labels are token ids as they are, and these."""
    for node in function.nodes_of((ast.Assign, ast.Dict, ast.Call)):
        pairs: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(_named(target), node.value) for target in node.targets]
        elif isinstance(node, ast.Dict):
            pairs = [(str(key.value), value) for key, value in zip(node.keys, node.values, strict=True)
                     if isinstance(key, ast.Constant)]  # fmt: skip
        elif isinstance(node, ast.Call):
            pairs = [(one.arg or "", one.value) for one in node.keywords]
        for name, value in pairs:
            base = _plain(value)
            held = isinstance(base, (ast.Name, ast.Attribute, ast.Subscript)) and _named(base) not in _LEARNED
            if name in _LEARNED and held and _IDS.search(_named(base)):
                yield node, base


def _named(value: ast.expr) -> str:
    if isinstance(value, ast.Subscript):
        return str(value.slice.value) if isinstance(value.slice, ast.Constant) else ""
    return last_name(value)


def _plain(value: ast.expr) -> ast.expr:
    """Returns what a value is a copy of."""
    while isinstance(value, ast.Call) and last_name(value.func) in _SAME:
        if isinstance(value.func, ast.Attribute) and last_name(value.func) != "deepcopy":
            value = value.func.value
        elif len(value.args) == 1:
            value = value.args[0]
        else:
            break
    return value


def _is_loss(node: ast.AST) -> bool:
    """Whether labels are handed to a model of a library, which computes the loss."""
    return isinstance(node, (ast.Call, ast.Dict)) or (
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    )


def _asks_mask(function: Function) -> bool:
    """Whether a function computes with a mask: it may weigh the loss, or cut the labels."""
    for node in function.nodes_of((ast.Compare, ast.BinOp, ast.UnaryOp, ast.Subscript)):
        parts = walk(node.slice) if isinstance(node, ast.Subscript) else walk(node)
        for one in parts:
            if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) and "mask" in _named(one):
                return True
    return False


def _leaves_out(function: Function) -> bool:
    """Whether a function puts the ignored label somewhere, has the pad token ignored, or sums losses by hand."""
    return any(map(_is_left_out, function.own_nodes))


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Call():
            given = {one.arg: one.value for one in node.keywords}
            ignored, summed = given.get("ignore_index"), given.get("reduction")
            if (ignored is not None and not _is_ignored(ignored)) or (
                isinstance(summed, ast.Constant) and summed.value == "none"
            ):
                return True
            return last_name(node.func) in _FILLS and any(map(_is_ignored, (*node.args, *given.values())))
        case ast.Assign(targets=[ast.Subscript(), *_]):
            return _is_ignored(node.value)
        case ast.IfExp():
            return _is_ignored(node.body) or _is_ignored(node.orelse)
        case ast.List():
            return any(map(_is_ignored, node.elts))
        case ast.BinOp(op=ast.Mult()):
            return _weighs(node)
    return False


def _weighs(product: ast.BinOp) -> bool:
    """Whether losses or likelihoods are multiplied by a mask."""
    sides = [ast.unparse(product.left), ast.unparse(product.right)]
    return any("mask" in one for one in sides) and any(re.search(r"loss|log_?p|nll|ce\b", one) for one in sides)


def _is_ignored(value: ast.expr) -> bool:
    """Whether a value is the label that losses ignore: -100, or what is named so."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return isinstance(value.operand, ast.Constant)
    return isinstance(value, (ast.Name, ast.Attribute)) and bool(_IGNORED.search(last_name(value)))
