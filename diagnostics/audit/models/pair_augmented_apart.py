"""An image and the mask that belongs to it are turned, flipped or cropped by two calls that draw apart.

What it does: flags two calls in one function, each of one thing alone, of transforms that draw geometry (the program's
own, or torchvision's, kornia's, monai's or albumentations'), one for an image and the other one for its mask, target,
label, weight, depth or flow, where nothing between makes them draw alike.

Why it matters: each call draws its own numbers. The mask is flipped where the image is not, or cut out elsewhere: the
network learns from targets that are not those of its inputs. The shapes fit and the loss falls, to a blur.

Bad:

    image = self.transform(image)
    mask = self.transform(mask)

Good:

    image, mask = self.transform(image, mask)      # torchvision.transforms.v2, albumentations: image=..., mask=...

or by hand: draw the numbers once (`RandomCrop.get_params`) and apply them to both; or put the state of the random
numbers back before the second call. What only changes colours may differ.

What it cannot see: pairs whose names do not tell, and transforms that a configuration file names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.transforms import drawing_part

CODE = "A349"
NAME = "pair-augmented-apart"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
CHECKLIST = "an image and its mask are augmented by the same numbers"
_BESIDE = re.compile(
    r"(?:^|_)(?:masks?|labels?|targets?|tgt|weights?|weightings?|depths?|flows?|seg|segm|segmentations?|annotations?|"
    r"disparit(?:y|ies)|heatmaps?|mattes?|alphas?|trimaps?|edges?|gt|truths?|normals|lbl|msk)(?:_|$)",
    re.IGNORECASE,
)
_DOMAINS = re.compile(r"(?:^|_)(?:source|src|style|content|anchor|positive|negative|other)(?:_|$)", re.IGNORECASE)
_ONE_DOMAIN = re.compile(r"(?:^|_)(?:targets?|tgt)(?:_|$)", re.IGNORECASE)
# What makes two calls draw alike: seeds, states that are put back, parameters that are drawn once.
_ALIKE = re.compile(r"seed|rng|random_state|(?:get|set)_?(?:state|params)|determin|replay|fork", re.IGNORECASE)
_PAIRED = "torchvision.datasets."


@dataclass(frozen=True, slots=True, eq=False)
class _Applied:
    """One call of a transform that draws: what it is given, and what is kept of it."""

    call: ast.Call
    operand: ast.expr
    drawn: tuple[ast.AST, Function]
    words: str

    @property
    def is_beside(self) -> bool:
        return bool(_BESIDE.search(self.words))


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the second of two calls that draw apart."""
    for function in () if file.is_test else project.functions_in(file):
        yield from _of_library(function, file, project)
        calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and _operand(one) is not None]
        beside = [bool(_BESIDE.search(_words(_operand(one)))) for one in calls]
        if all(beside) or not any(beside) or _draws_alike(function):
            continue
        applied = [one for call in calls if (one := _applied(call, function, file, project)) is not None]
        found = _pair(applied, function, file)
        if found is not None:
            first, second = found
            yield violation(
                file,
                second.call,
                f"'{ast.unparse(second.operand)[:50]}' is moved by other numbers than "
                f"'{ast.unparse(first.operand)[:50]}', to which it belongs: each of the two calls draws its own",
                "give both to one call (torchvision.transforms.v2, albumentations), or draw the numbers once and apply "
                "them to both",
                steps=(step(file, first.call, "draws for the one"), *_drawn((first.drawn, second.drawn), project)),
                confidence=Confidence.LIKELY,
            )


def _of_library(function: Function, file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the data sets of torchvision that are given two transforms that draw, one for the target."""
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call) or not project.name(call.func, function).startswith(_PAIRED):
            continue
        given = {one.arg: one.value for one in call.keywords}
        if "transform" in given and "target_transform" in given:
            drawn = [drawing_part(given[one], function, project) for one in ("transform", "target_transform")]
            if drawn[0] is not None and drawn[1] is not None:
                yield violation(
                    file,
                    call,
                    "transform and target_transform each draw geometry of their own: the target is moved by other "
                    "numbers than the image to which it belongs",
                    "give both to one call: transforms=... of torchvision.transforms.v2",
                    steps=_drawn((drawn[0], drawn[1]), project),
                    confidence=Confidence.LIKELY,
                )


def _drawn(parts: Sequence[tuple[ast.AST, Function]], project: Project) -> tuple[ExplanationStep, ...]:
    """Returns the steps that show what draws, each place once."""
    told = (step(project.file_with(where), node, "geometry that each call draws anew") for node, where in parts)
    return tuple(dict.fromkeys(told))


def _operand(call: ast.Call) -> ast.expr | None:
    """Returns the one thing that a call is given, by its place or as `image=`."""
    if len(call.args) == 1 and not call.keywords:
        return None if isinstance(call.args[0], (ast.Starred, ast.Constant, ast.Tuple, ast.List)) else call.args[0]
    named = len(call.keywords) == 1 and not call.args and call.keywords[0].arg in ("image", "img", "x", "input")
    return call.keywords[0].value if named else None


def _words(value: ast.expr | None) -> str:
    """Returns the names and texts in a value, with "_" between them."""
    found = []
    for node in walk(value) if value is not None else ():
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.append(last_name(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return "_".join(found)


def _applied(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> _Applied | None:
    operand = _operand(call)
    drawn = drawing_part(call.func, function, project) if operand is not None else None
    if operand is None or drawn is None:
        return None
    return _Applied(call, operand, drawn, _words(operand))


def _draws_alike(function: Function) -> bool:
    """Whether a function has to do with seeds or states: it may make both calls draw the same."""
    return any(
        _ALIKE.search(last_name(node.func) if isinstance(node, ast.Call) else ast.unparse(node.context_expr))  # type: ignore[attr-defined]
        for node in function.nodes_of((ast.Call, ast.withitem))
    )


def _pair(applied: Sequence[_Applied], function: Function, file: ProjectFile) -> tuple[_Applied, _Applied] | None:
    for second in applied:
        for first in applied:
            together = not first.is_beside and second.is_beside and _belong(first, second)
            if together and not _excludes(first.call, second.call, function, file):
                return first, second
    return None


def _belong(first: _Applied, second: _Applied) -> bool:
    """Whether two things are of one sample: not the same thing seen twice, nor of two domains or two indices."""
    if _DOMAINS.search(first.words) and not _BESIDE.search(_ONE_DOMAIN.sub("_", second.words)):
        return False
    one, other = first.operand, second.operand
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        keyed = all(isinstance(each.slice, ast.Constant) for each in (one, other))
        return keyed or ast.unparse(one.slice) == ast.unparse(other.slice)
    return ast.unparse(one) != ast.unparse(other)


def _excludes(first: ast.AST, second: ast.AST, function: Function, file: ProjectFile) -> bool:
    """Whether one of two calls alone is made: they are in the two arms of a test."""
    around = file.parents.get(first)
    while around is not None and around is not function.syntax:
        if isinstance(around, (ast.If, ast.IfExp)):
            arms = (around.body, around.orelse)
            parts = [part if isinstance(part, list) else [part] for part in arms]
            inside = [
                [any(inner is call for one in part for inner in walk(one)) for part in parts]
                for call in (first, second)
            ]
            if inside[0][0] != inside[1][0] and any(inside[1]):
                return True
        around = file.parents.get(around)
    return False
