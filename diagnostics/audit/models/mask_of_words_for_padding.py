"""An attention layer of torch is given a mask that is True for words where it wants one that is True for padding.

What it does: follows what is given as key_padding_mask, src_key_padding_mask and the like through names, parameters,
attributes, cat and moves to a device. Flags it where it is `ids != pad`, a comparison of positions as less than
lengths, or a mask that a tokenizer made or that is named attention_mask, and nothing turns it round.

Why it matters: all words are masked, and the model attends to padding alone, in training and validation alike. The loss
falls by what the padding tells, such as the length, and the score stays near chance. Rows without padding become NaN.

Bad:

    h = encoder(x, src_key_padding_mask=attention_mask.bool())

Good:

    h = encoder(x, src_key_padding_mask=attention_mask == 0)

What it cannot see: masks that come out of a file, and layers of other libraries, which may want it so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A383"
NAME = "mask-of-words-for-padding"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")
CHECKLIST = "padding masks of attention are True for padding"
_LAYERS = frozenset(["TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder", "TransformerDecoderLayer",
                     "Transformer", "MultiheadAttention"])  # fmt: skip
_ROUNDS = 7
_KEEPS = frozenset(["bool", "to", "cuda", "clone", "contiguous", "detach", "view", "reshape", "squeeze", "unsqueeze",
                    "flatten", "type", "repeat", "expand", "transpose", "t"])  # fmt: skip
_FILLS = frozenset(["zeros", "ones", "full"])
_JOINS = frozenset(["cat", "concat", "stack"])
_PADS = re.compile(r"(?:^|_)pad(?:ding)?(?:_?(?:id|idx|index|token|token_id|value|symbol))?$", re.IGNORECASE)
_IDS = re.compile(r"(?:^|_)(?:ids|tokens?|seqs?|src|tgt|source|target|text|words?|inputs?|x|batch)$", re.IGNORECASE)
_LENGTHS = re.compile(r"len(?:gth)?s?(?:_|$)|(?:^|_)n_?(?:tokens|valid)$", re.IGNORECASE)
_OF_TOKENIZER = "attention_mask"
_TOKENIZERS = re.compile(r"tokenizers?|AutoTokenizer|BertTokenizer|encode_plus|batch_encode_plus")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the masks that are turned round."""
    for call, function in () if file.is_test else project.calls_in(file):
        for given in call.keywords:
            if given.arg not in WORDS or not _is_layer(call.func, function, project):
                continue
            found = _of_words(given.value, function, project, _ROUNDS)
            if found is None:
                continue
            made, where = found
            yield violation(
                file,
                given.value,
                f"{given.arg} is True for words, as '{ast.unparse(made)[:60]}' says: the layer leaves out what is True "
                "and attends to the padding alone",
                f"{given.arg}=~({ast.unparse(given.value)[:60]}), a mask that is True for padding",
                steps=(step(project.file_with(where), made, "True for words"),) if made is not given.value else (),
                confidence=Confidence.LIKELY,
            )


def _is_layer(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether what is called is a layer of torch.nn, by all that is known of it."""
    made = [(one, where) for one, where in origins(value, function, project) if isinstance(one, ast.Call)]
    names = [project.name(one.func, where) for one, where in made]
    return bool(names) and all(one.startswith("torch.nn.") and one.rpartition(".")[2] in _LAYERS for one in names)


def _of_words(
    value: ast.expr, function: Function, project: Project, rounds: int
) -> tuple[ast.expr, Function] | None:  # fmt: skip
    """Returns what makes a mask True for words, through all that leaves it so; None where it may be another one."""
    if not rounds:
        return None
    match value:
        case ast.Compare(ops=[op], comparators=[right]):
            return (value, function) if _compares_words(value.left, op, right) else None
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEPS:
            return _of_words(inner, function, project, rounds - 1)
        case ast.Call(func=func, args=[ast.List(elts=parts) | ast.Tuple(elts=parts), *_]) if last_name(func) in _JOINS:
            known = [one for one in parts if not _is_filled(one, function)]
            found = [_of_words(one, function, project, rounds - 1) for one in known]
            return found[0] if found and None not in found else None
        case ast.Call(func=ast.Attribute(attr="ne"), args=[_, *_]):
            parts = [value.func.value, *value.args]  # type: ignore[attr-defined]
            return (value, function) if len(parts) == 2 and _is_pad(parts[1]) else None
        case ast.Subscript(slice=ast.Constant(value=key)) if isinstance(key, str):
            return (value, function) if key == _OF_TOKENIZER and _as_usual(function, project) else None
        case ast.Subscript(value=inner, slice=ast.Tuple() | ast.Slice()):
            return _of_words(inner, function, project, rounds - 1)
        case ast.Attribute(attr=name) if name == _OF_TOKENIZER and not _is_self(value):
            return (value, function) if _as_usual(function, project) else None
        case ast.Name(id=name):
            ways = list(reaching_values(value, function, project))
            if any(one is value for one, _ in ways):
                return None
            if not ways:
                return (value, function) if name == _OF_TOKENIZER and _as_usual(function, project) else None
            each = [_of_words(one, where, project, rounds - 1) for one, where in ways]
            return each[0] if None not in each else None
    return None


def _compares_words(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    """Whether a comparison is True for words: ids that are not the pad, positions before the length."""
    if isinstance(op, ast.NotEq):
        return (_is_pad(right) and _may_be_ids(left)) or (_is_pad(left) and _may_be_ids(right))
    positions, lengths = (left, right) if isinstance(op, ast.Lt) else (right, left)
    return isinstance(op, (ast.Lt, ast.Gt)) and "arange" in ast.unparse(positions) and _is_length(lengths)


def _is_pad(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value == 0 and not isinstance(value.value, bool)
    return isinstance(value, (ast.Name, ast.Attribute)) and bool(_PADS.search(last_name(value)))


def _may_be_ids(value: ast.expr) -> bool:
    """Whether a value is not itself a mask: `mask != 0` is that of a mask."""
    return "mask" not in ast.unparse(value).lower() and bool(_IDS.search(_last(value)))


def _last(value: ast.expr) -> str:
    if isinstance(value, ast.Subscript):
        if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str):
            return value.slice.value
        return _last(value.value)
    return last_name(value)


def _is_length(value: ast.expr) -> bool:
    while isinstance(value, (ast.Subscript, ast.Call)):
        inner = value.value if isinstance(value, ast.Subscript) else value.func
        value = inner.value if isinstance(inner, ast.Attribute) and isinstance(value, ast.Call) else inner
    return isinstance(value, (ast.Name, ast.Attribute)) and bool(_LENGTHS.search(last_name(value)))


def _is_filled(value: ast.expr, function: Function) -> bool:
    """Whether a part of a mask is one of its own: that of a class token."""
    made = function.assigned.get(value.id, []) if isinstance(value, ast.Name) else [value]
    return any(
        isinstance(one, ast.Call) and last_name(one.func).removeprefix("new_").partition("_")[0] in _FILLS
        for one in made
    )


def _as_usual(function: Function, project: Project) -> bool:
    """Whether what a program calls attention_mask is True for words: it makes such a one, or a tokenizer does."""
    made = _made(project)
    if made:
        return all(_of_words(one, where, project, 2) is not None for one, where in made)
    return any(_TOKENIZERS.fullmatch(one) for one in project.file_with(function).words)


@per_project
def _made(project: Project) -> Sequence[tuple[ast.expr, Function]]:
    """Returns what is computed and called attention_mask anywhere: as a name, an attribute or a key."""
    found: list[tuple[ast.expr, Function]] = []
    for function in project.functions:
        for node in function.nodes_of((ast.Assign, ast.Dict, ast.keyword)):
            pairs: list[tuple[str, ast.expr]] = []
            if isinstance(node, ast.Assign):
                pairs = [(_last(target), node.value) for target in node.targets]
            elif isinstance(node, ast.Dict):
                pairs = [(str(key.value), one) for key, one in zip(node.keys, node.values, strict=True)
                         if isinstance(key, ast.Constant)]  # fmt: skip
            elif isinstance(node, ast.keyword):
                pairs = [(node.arg or "", node.value)]
            found += [(one, function) for name, one in pairs if name == _OF_TOKENIZER and not _names_it(one)]
    return found


def _names_it(value: ast.expr) -> bool:
    """Whether a value is the mask by the same name, moved or copied at most."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPS:
        value = value.func.value
    return not isinstance(value, ast.Call) and _last(value) == _OF_TOKENIZER


def _is_self(value: ast.Attribute) -> bool:
    return isinstance(value.value, ast.Name) and value.value.id == "self"
