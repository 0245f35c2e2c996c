"""The prompt is taken out of the labels by the first columns of a batch that is padded on the left.

What it does: flags `labels[i, :length] = -100` in a program that sets `padding_side` to "left", where the labels are
token ids that a tokenizer or processor has padded, and the length is a number of the prompt's own tokens.

Why it matters: the first columns of a short sample are padding. What is masked there is padding, and as many tokens of
its prompt stay in the loss: the model is trained on instructions, and the more so the more the lengths differ.

Bad:

    tokenizer.padding_side = "left"
    labels[i, :prompt_length] = -100

Good:

    start = (attention_mask[i] == 0).sum()
    labels[i, : start + prompt_length] = -100

What it cannot see: a side that the tokenizer's own files set, and padding by hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import EVALUATION
from diagnostics.static.torch_code.training_functions import is_step

CODE = "A337"
NAME = "prompt-on-padded-side"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("labels", "label", "targets", "target", "label_ids")
SUBJECT = ("padding_side",)
CHECKLIST = "the prompt is masked where it stands in padded rows"
_LEARNED = re.compile(r"label|target", re.IGNORECASE)
_GENERATES = re.compile(r"generat|predict|infer|decode|sample|answer", re.IGNORECASE)
_SAME = frozenset(["clone", "detach", "to", "long", "contiguous", "cpu", "copy", "tolist", "item", "int", "deepcopy"])
_IDS = frozenset(["input_ids"])
_SIDE = "padding_side"
_DEPTH = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the masks that fall on padding."""
    closures = project.fact(ImportClosures)
    if file.is_test or _SIDE not in closures.words(file.shown):
        return
    around = [one for one in project.functions if one.file in closures.around(file.shown)]
    left = _left(around)
    if left is None or _tokenizers(around) > 1:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            if isinstance(node, ast.Assign) and _masks_first(node, function, project):
                yield violation(
                    file,
                    node,
                    f"`{ast.unparse(node)[:60]}` masks the first columns, and this batch is padded on the left: of "
                    "each sample that is shorter than the longest a part of the prompt stays in the loss",
                    "count from the first token that is no padding: labels[i, : padding + length], or "
                    "attention_mask.cumsum(1) <= length; or pad on the right for training",
                    steps=(step(project.file_with(left[1]), left[0], "rows are padded on the left"),),
                    confidence=Confidence.LIKELY,
                )


def _left(around: list[Function]) -> tuple[ast.AST, Function] | None:
    """Returns where a program pads on the left; None where it does so only at times."""
    found: list[tuple[ast.AST, Function, ast.expr]] = []
    for function in around:
        for node in function.nodes_of((ast.Assign, ast.Call)):
            if isinstance(node, ast.Assign) and last_name(node.targets[0]) == _SIDE:
                found.append((node, function, node.value))
            elif isinstance(node, ast.Call):
                found += [(node, function, one.value) for one in node.keywords if one.arg == _SIDE]
    if not all(isinstance(value, ast.Constant) and value.value == "left" for _, _, value in found):
        return None
    for node, function, _ in found:
        name = function.name.rpartition(".")[2]
        if not (EVALUATION.search(name) or _GENERATES.search(name) or _has_trained(function, node)):
            return node, function
    return None


def _has_trained(function: Function, node: ast.AST) -> bool:
    """Whether a function trains before a line: what it sets there is for what comes afterwards."""
    line = getattr(node, "lineno", 0)
    return any(one.lineno < line and is_step(one) for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call))


def _tokenizers(around: list[Function]) -> int:
    """Returns how many tokenizers and processors a program loads, each with a side of its own."""
    return sum(
        last_name(node.func) == "from_pretrained" and isinstance(node.func, ast.Attribute)
        and re.search(r"Tokenizer|Processor", ast.unparse(node.func.value)) is not None
        for function in around for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)
    )  # fmt: skip


def _masks_first(node: ast.Assign, function: Function, project: Project) -> bool:
    """Whether an assignment ignores the first columns of one row of padded labels."""
    labels, end = _row(node.targets[0], function)
    if labels is None or end is None or not _LEARNED.search(ast.unparse(labels)):
        return False
    ignored = origins(node.value, function, project)
    values = [ast.unparse(one) for one, _ in ignored]
    if not all(one == "-100" or "ignore" in one.lower() for one in values):
        return False
    return _is_padded(labels, function, project, _DEPTH) and _is_own_length(end, function, project)


def _row(target: ast.expr, function: Function) -> tuple[ast.expr | None, ast.expr | None]:
    """Returns x and n of `x[i, :n]`, of `x[i][:n]`, and of `row[:n]` for a row of x."""
    if not isinstance(target, ast.Subscript):
        return None, None
    base, cut = target.value, target.slice
    if isinstance(cut, ast.Tuple) and len(cut.elts) == 2:
        if not isinstance(cut.elts[0], ast.Name):
            return None, None
        cut = cut.elts[1]
    elif isinstance(base, ast.Subscript) and isinstance(base.slice, ast.Name):
        base = base.value
    else:
        gone = _gone_through(base, function) if isinstance(base, ast.Name) else None
        if gone is None:
            return None, None
        base = gone
    if not isinstance(cut, ast.Slice) or cut.upper is None or cut.step is not None:
        return None, None
    begins = cut.lower is None or (isinstance(cut.lower, ast.Constant) and cut.lower.value == 0)
    return (base, cut.upper) if begins else (None, None)


def _gone_through(name: ast.Name, function: Function) -> ast.expr | None:
    """Returns the sequence whose items a name is in a loop: through enumerate and zip."""
    for loop in function.nodes_of(ast.For):
        pairs = [(loop.target, loop.iter)] if isinstance(loop, ast.For) else []
        while pairs:
            target, over = pairs.pop()
            called = last_name(over.func) if isinstance(over, ast.Call) else ""
            parts = target.elts if isinstance(target, ast.Tuple) else []
            if isinstance(over, ast.Call) and called == "enumerate" and over.args and len(parts) == 2:
                pairs.append((parts[1], over.args[0]))
            elif isinstance(over, ast.Call) and called == "zip" and len(parts) == len(over.args):
                pairs += list(zip(parts, over.args, strict=True))
            elif isinstance(target, ast.Name) and target.id == name.id:
                return over
    return None


def _plain(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _SAME and len(value.args) < 2:
            given = value.args[0] if value.args and last_name(value.func) == "deepcopy" else None
            value = given if given is not None else value.func.value
        elif isinstance(value.func, ast.Name) and value.func.id in _SAME and value.args:
            value = value.args[0]
        else:
            break
    return value


def _followed(value: ast.expr, function: Function, project: Project) -> Iterator[Origin]:
    for one, where in origins(_plain(value), function, project):
        yield _plain(one), where


def _is_padded(labels: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether all that labels may be is the token ids of a batch that a tokenizer has padded."""
    found = list(_followed(labels, function, project))
    return bool(found) and all(_is_of_batch(one, where, project, depth) for one, where in found)


def _is_of_batch(ids: ast.expr, function: Function, project: Project, depth: int) -> bool:
    by_key = isinstance(ids, ast.Subscript) and isinstance(ids.slice, ast.Constant) and ids.slice.value in _IDS
    if isinstance(ids, ast.Name) and depth:
        return ids.id not in function.parameters and _is_padded(ids, function, project, depth - 1)
    if not isinstance(ids, (ast.Subscript, ast.Attribute)) or not (by_key or last_name(ids) in _IDS):
        return False
    made = list(_followed(ids.value, function, project))
    return bool(made) and all(isinstance(one, ast.Call) and _pads(one) for one, _ in made)


def _pads(call: ast.Call) -> bool:
    given = next((one.value for one in call.keywords if one.arg == "padding"), None)
    if last_name(call.func) == "pad":
        return given is None or not _is_false(given)
    return isinstance(given, ast.Constant) and given.value in (True, "longest", "max_length")


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, "do_not_pad")


def _is_own_length(end: ast.expr, function: Function, project: Project) -> bool:
    """Whether a number of columns is that of the prompt's tokens, counted without padding."""
    end = _plain(end)
    if isinstance(end, ast.Name):
        gone = _gone_through(end, function)
        end = gone if gone is not None else end
    elif isinstance(end, ast.Subscript) and isinstance(end.slice, ast.Name):
        end = end.value
    found = list(_followed(end, function, project))
    return bool(found) and all(_counts(one, where, project) for one, where in found)


def _counts(value: ast.expr, function: Function, project: Project) -> bool:
    if isinstance(value, ast.ListComp):
        return _counts(_plain(value.elt), function, project)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Name) and value.func.id == "len" and value.args:
        made = [one for one, _ in _followed(value.args[0], function, project)]
        return not any(isinstance(one, ast.BinOp) or "pad" in ast.unparse(one).lower() for one in made)
    if last_name(value.func) != "sum" or not isinstance(value.func, ast.Attribute):
        return False
    return "attention_mask" in ast.unparse(value.func.value) or any(
        "attention_mask" in ast.unparse(one) for one, _ in _followed(value.func.value, function, project)
    )
