"""The end token is left out of the loss together with the padding, whose token it is.

What it does: flags labels or weights of a loss that are masked where they equal the pad token, `ignore_index` of the
pad token, and DataCollatorForLanguageModeling(mlm=False), in a program that sets the pad token to the end token and
puts the end token behind its texts.

Why it matters: padding and end are one number. The mask takes both away, and no end is ever learned: the loss looks as
it should, and generation goes on until its limit.

Bad:

    tokenizer.pad_token = tokenizer.eos_token
    labels[labels == tokenizer.pad_token_id] = -100

Good:

    labels[attention_mask == 0] = -100      # by where the padding is, not by what it is

What it cannot see: a tokenizer that comes with such a pad token, and whether one with a pad token of its own is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A177"
NAME = "end-masked-with-padding"
SEVERITY = Severity.WARNING
RUN_CLASS = "wrong-loss"
WORDS = ("pad_token_id", "pad_id", "pad_token", "DataCollatorForLanguageModeling")
CHECKLIST = "the end token is learned where padding is masked"
_PAD = re.compile(r"\bpad(?:ding)?(?:_token)?(?:_?id|_?idx)?\b", re.IGNORECASE)
_LEARNED = re.compile(r"label|target|loss_?mask|loss_?weight", re.IGNORECASE)
_OF_LOSS = re.compile(r"loss|label", re.IGNORECASE)
_READS_ALL = re.compile(r"attention|attn|key_padding", re.IGNORECASE)
_ADDS = frozenset(["append", "extend", "insert", "cat", "concat", "concatenate", "hstack", "tensor", "LongTensor"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the masks that take the end away."""
    closures = project.fact(ImportClosures)
    if file.is_test or not {"eos_token", "eos_token_id", "eos_id"} & closures.words(file.shown):
        return
    around = [one for one in project.functions if one.file in closures.around(file.shown)]
    for function in project.functions_in(file):
        for node, what in _masks(function):
            shared = next((found for one in around for found in _shared(one)), None)
            added = next((found for one in around for found in _ends(one, project.file_with(one))), None)
            if shared is None or added is None or _keeps_one(function):
                continue
            yield violation(
                file,
                node,
                f"{what} takes the end token out of the loss with the padding, which is the same token: no end is ever "
                "learned, and generation goes on until its limit",
                "mask by where the padding is, the attention mask or the length, or give the tokenizer a pad token "
                "of its own",
                steps=(
                    step(project.file_with(shared[1]), shared[0], "the pad token is set to the end token"),
                    step(project.file_with(added[1]), added[0], "the end token is put behind a text"),
                ),
                confidence=Confidence.LIKELY,
            )


def _masks(function: Function) -> Iterator[tuple[ast.AST, str]]:
    """Yields where what is learned is masked by the value of the pad token."""
    for node in function.nodes_of((ast.Assign, ast.Call)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if _is_learned(target.value) and _is_pad_test(target.slice, ast.Eq) and _is_ignored(node.value):
                yield node, f"`{ast.unparse(node)[:60]}`"
        elif isinstance(node, ast.Assign) and _is_pad_test(node.value, ast.NotEq):
            name = ast.unparse(node.targets[0])
            if not _OF_LOSS.search(name) or _READS_ALL.search(name):
                continue  # what is not read, and not what is not learned
            yield node, f"`{ast.unparse(node)[:60]}`"
        elif isinstance(node, ast.Call):
            name, named = last_name(node.func), {one.arg: one.value for one in node.keywords}
            if name in ("masked_fill", "masked_fill_") and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
                if _is_learned(node.func.value) and _is_pad_test(node.args[0], ast.Eq) and _is_ignored(node.args[1]):
                    yield node, f"`{ast.unparse(node)[:60]}`"
            elif name in ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
                if (ignored := named.get("ignore_index")) is not None and _is_pad(ignored):
                    yield node, f"`ignore_index={ast.unparse(ignored)}`"
            elif name == "DataCollatorForLanguageModeling" and _is_false(named.get("mlm")):
                yield node, "this collator, which masks the labels that are padding,"


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _is_learned(value: ast.expr) -> bool:
    text = ast.unparse(value)
    return bool(_LEARNED.search(text)) and not _READS_ALL.search(text)


def _is_pad_test(value: ast.expr, kind: type[ast.cmpop]) -> bool:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        value = value.func.value  # .float(), .bool()
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and len(value.args) == 1:
        meant = {ast.Eq: "eq", ast.NotEq: "ne"}[kind]
        return value.func.attr == meant and _is_pad(value.args[0])
    return isinstance(value, ast.Compare) and isinstance(value.ops[0], kind) and _is_pad(value.comparators[0])


def _is_pad(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Attribute)) and bool(_PAD.search(last_name(value)))


def _is_ignored(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.operand, ast.Constant)
    named = re.search(r"ignore", ast.unparse(value), re.IGNORECASE)
    return (isinstance(value, ast.Constant) and value.value in (0, False)) or named is not None


def _shared(function: Function) -> Iterator[tuple[ast.AST, Function]]:
    """Yields where the pad token becomes the end token."""
    for node in function.nodes_of((ast.Assign, ast.Call)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            pair = (node.targets[0].attr, last_name(node.value) if isinstance(node.value, ast.Attribute) else "")
            if pair in (("pad_token", "eos_token"), ("pad_token_id", "eos_token_id"), ("pad_id", "eos_id")):
                yield node, function
        elif isinstance(node, ast.Call) and last_name(node.func) == "add_special_tokens" and node.args:
            given = node.args[0]
            for key, value in zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ():
                named = isinstance(key, ast.Constant) and key.value == "pad_token"
                if named and isinstance(value, ast.Attribute) and value.attr == "eos_token":
                    yield node, function


def _ends(function: Function, file: ProjectFile) -> Iterator[tuple[ast.AST, Function]]:
    """Yields where the end token is put behind a text or its tokens."""
    for node in function.nodes_of((ast.Attribute, ast.Name)):
        if last_name(node) not in ("eos_token", "eos_token_id", "eos_id") or not isinstance(node.ctx, ast.Load):  # type: ignore
            continue
        outer = file.parents.get(node)
        while isinstance(outer, (ast.List, ast.FormattedValue, ast.JoinedStr, ast.Tuple)):
            if isinstance(outer, ast.JoinedStr) or (isinstance(outer, ast.List) and len(outer.elts) > 1):
                yield node, function
                break
            outer = file.parents.get(outer)
        else:
            sums = isinstance(outer, (ast.BinOp, ast.AugAssign)) and isinstance(outer.op, ast.Add)
            if sums or (isinstance(outer, ast.Call) and last_name(outer.func) in _ADDS and outer.func is not node):
                yield node, function


def _keeps_one(function: Function) -> bool:
    """Whether a function looks for the first end and keeps it."""
    called = {last_name(node.func) for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)}
    return bool(called & {"argmax", "cumsum", "nonzero"})
