"""Token ids are compared with the text of a token: they are never equal, and no error says so.

What it does: flags `==`, `!=` and `in` between token ids (what a tokenizer gave as `input_ids` or encoded, what was
sampled or is called ids, labels that are indexed with the answer) and the text of a token: `tokenizer.pad_token`,
`tokenizer.eos_token` and the like of transformers, or a text that stands there, also through names and parameters.

Why it matters: a tensor that is compared with a text is plain False, and indexing with False changes nothing.
Padding stays in the labels and is learned; with `!=` all of it counts as text; a generation never ends.

Bad:

    labels[labels == tokenizer.pad_token] = -100

Good:

    labels[labels == tokenizer.pad_token_id] = -100

What it cannot see: texts that come from a configuration, and ids that go by other names and come from elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A353"
NAME = "ids-compared-with-text"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("pad_token", "eos_token", "bos_token", "sep_token", "cls_token", "mask_token", "unk_token", "input_ids")
CHECKLIST = "token ids are compared with ids"
_TOKENS = frozenset(WORDS[:-1])
_TOKENIZER = re.compile(r"tokenizer|processor|(?:^|_)tok(?:$|_)", re.IGNORECASE)
_LIBRARIES = frozenset(["transformers"])
_IDS = re.compile(r"(?:^|_)(?:input|token|label|output|generated|target|prompt|response)_ids?$")
_ANY_IDS = re.compile(r"(?:^|_)ids?$")
_LEARNED = re.compile(r"(?:^|_)(?:labels?|targets?)$")
_NUMBERS = frozenset(["item", "argmax", "multinomial", "convert_tokens_to_ids", "topk", "encode", "LongTensor"])
_TEXTS = frozenset(["decode", "batch_decode", "convert_ids_to_tokens", "id_to_token", "tokenize", "str", "join",
                    "split", "strip", "lower"])  # fmt: skip
_SAME = frozenset(["clone", "copy", "detach", "to", "long", "contiguous", "cuda", "cpu", "numpy", "tolist", "deepcopy",
                   "squeeze", "unsqueeze", "view", "reshape", "flatten", "array", "asarray", "tensor"])  # fmt: skip
_LIBRARY = frozenset(["np", "numpy", "torch", "copy"])
_SETTINGS = frozenset(["input_ids", "labels", "pt", "np", "longest", "max_length", "cuda"])
_OPERATORS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_MASKS = frozenset(["sum", "any", "all", "float", "long", "int", "bool", "nonzero", "where", "masked_fill",
                    "masked_fill_", "logical_and", "logical_or", "logical_not", "argmax", "cumsum", "type", "type_as",
                    "to"])  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the comparisons of ids with texts."""
    if file.is_test or not project.fact(ImportClosures).words(file.shown) & _LIBRARIES:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Compare):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _OPERATORS):
                continue
            sides = [node.left, node.comparators[0]]
            if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and _text(sides[0], function, project):
                sides.reverse()
            ids, text = sides if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) else (sides[1], sides[0])
            shown = _text(text, function, project)
            if shown and _are_ids(ids, function, project, learned=_is_mask(node, file), loose=shown[0] not in "'\""):
                right = f"{shown}_id" if shown[0] not in "'\"" else f"tokenizer.convert_tokens_to_ids({shown})"
                yield violation(
                    file,
                    node,
                    f"`{ast.unparse(node)[:60]}` compares token ids with the text of a token, which no id is equal to: "
                    "it is the same for each of them, and no error says so",
                    f"compare with the id: {right}",
                    confidence=Confidence.LIKELY,
                )


def _text(value: ast.expr, function: Function, project: Project) -> str:
    """Returns how the text of a token is written, "" where a value may be something else."""
    if not isinstance(value, (ast.Constant, ast.Attribute, ast.Name)):
        return ""
    made = origins(value, function, project)
    shown = [_written(one, where, project) for one, where in made]
    return shown[0] if shown and all(shown) else ""


def _written(value: ast.expr, function: Function, project: Project) -> str:
    match value:
        case ast.Constant(value=str() as text):
            return repr(text) if len(text) > 1 else ""
        case ast.Attribute(value=owner, attr=attr) if attr in _TOKENS and _TOKENIZER.search(last_name(owner)):
            made = [one for one, _ in origins(owner, function, project)]
            known = all(isinstance(one, (ast.Name, ast.Attribute)) or _is_pretrained(one) for one in made)
            return ast.unparse(value) if known else ""
    return ""


def _is_pretrained(value: ast.expr) -> bool:
    """Whether a tokenizer is one of transformers."""
    return isinstance(value, ast.Call) and last_name(value.func) == "from_pretrained"


def _is_mask(node: ast.AST, file: ProjectFile) -> bool:
    """Whether the answer is used as a tensor: as an index, or counted."""
    outer = file.parents.get(node)
    while isinstance(outer, (ast.UnaryOp, ast.BinOp, ast.Tuple)):
        node, outer = outer, file.parents.get(outer)
    match outer:
        case ast.Subscript():
            return outer.slice is node
        case ast.Attribute(attr=attr):
            return attr in _MASKS
        case ast.Call():
            return outer.func is not node and last_name(outer.func) in _MASKS
    return False


def _are_ids(value: ast.expr, function: Function, project: Project, *, learned: bool, loose: bool) -> bool:
    """Whether a value is token ids: by what it was made of, or by its name.

    `learned`: labels are a tensor; `loose`: it stands beside the text of a tokenizer, so that any id is one of a token.
    """
    base = _plain(value)
    if isinstance(base, ast.Name) and (over := _iterated(base, function)) is not None:
        base = _plain(over)
        if isinstance(base, ast.Name) and (over := _iterated(base, function)) is not None:  # of rows of them
            base = _plain(over)
    made = [one for one, _ in origins(base, function, project)]
    if any(map(_is_text, made)):
        return False
    named = [_named(one) for one in (base, *map(_plain, made))]
    if (_ANY_IDS if loose else _IDS).search(named[0]) or "input_ids" in named:
        return True
    numbers = any(isinstance(one, ast.Call) and last_name(one.func) in _NUMBERS for one in map(_plain, made))
    return loose and (numbers or (learned and bool(_LEARNED.search(named[0]))))


def _is_text(value: ast.expr) -> bool:
    """Whether a value is made of texts: they were decoded, or stand there in a list."""
    calls = {last_name(one.func) for one in walk(value) if isinstance(one, ast.Call)}
    texts = {one.value for one in walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return bool(calls & _TEXTS) or (isinstance(value, (ast.List, ast.Tuple)) and bool(texts - _SETTINGS))


def _named(value: ast.expr) -> str:
    return _key(value) if isinstance(value, ast.Subscript) else last_name(value)


def _plain(value: ast.expr) -> ast.expr:
    """Returns what a value is a copy or a part of."""
    while True:
        match value:
            case ast.Subscript() if not _key(value):
                value = value.value
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if (
                attr in _SAME and last_name(owner) not in _LIBRARY
            ):
                value = owner
            case ast.Call(func=called, args=[first, *_]) if last_name(called) in _SAME:
                value = first
            case _:
                return value


def _key(value: ast.Subscript) -> str:
    return value.slice.value if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str) else ""


def _iterated(name: ast.Name, function: Function) -> ast.expr | None:
    """Returns what a name runs over."""
    for node in function.own_nodes:
        if isinstance(node, (ast.For, ast.comprehension)):
            match node.target, node.iter:
                case ast.Name(id=name.id), over:
                    return over
                case ast.Tuple(elts=[*_, ast.Name(id=name.id)]), ast.Call(
                    func=ast.Name(id="enumerate"), args=[over, *_]
                ):
                    return over
    return None
