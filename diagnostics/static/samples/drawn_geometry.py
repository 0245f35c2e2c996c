"""Whether a function flips, crops or turns what it is given by numbers that each call draws anew. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_DRAWS = frozenset(
    ["torch.rand", "torch.randint", "torch.bernoulli", "torch.randperm", "torch.normal", "torch.randn"]
    + [f"random.{one}" for one in ("random", "randint", "uniform", "choice", "randrange", "gauss", "betavariate")]
    + [f"numpy.random.{one}" for one in ("rand", "randint", "random", "uniform", "choice", "random_sample", "normal")]
)
_MOVES = frozenset(
    ["flip", "hflip", "vflip", "horizontal_flip", "vertical_flip", "fliplr", "flipud", "rot90", "rotate", "roll",
     "crop", "resized_crop", "affine", "perspective", "transpose", "grid_sample", "affine_grid", "elastic_transform",
     "elastic", "warpAffine", "warpPerspective", "warp_affine", "remap", "map_coordinates"]
)  # fmt: skip
# Of libraries, by their last names. Those of albumentations draw whatever they are called.
_OF_LIBRARIES = ("torchvision.transforms.", "kornia.augmentation.", "monai.transforms.", "albumentations.")
_GEOMETRY = re.compile(r"Flip|Crop|Rotat|Affine|Perspective|Elastic|Zoom|Distort|ThinPlate|Jigsaw|Transpose|D4$|IoU")
_FIXED = frozenset(["CenterCrop", "Crop", "FiveCrop", "TenCrop", "PadIfNeeded", "CropAndPad"])
_CERTAIN = re.compile(r"Flip|Transpose")  # with p=1 the same each time


def draws_of_library(name: str, call: ast.Call) -> bool:
    """Whether a call makes a library's transform that draws geometry."""
    last = name.rpartition(".")[2]
    if not name.startswith(_OF_LIBRARIES) or not _GEOMETRY.search(last) or last in _FIXED:
        return False
    if not name.startswith("albumentations.") and not last.startswith(("Rand", "Elastic")):
        return False
    chances = [one.value for one in call.keywords if one.arg in ("p", "prob")]
    chances += call.args[:1] if _CERTAIN.search(last) else []
    chance = next((one.value for one in chances if isinstance(one, ast.Constant)), None)
    return not (chance == 0 or (chance == 1 and _CERTAIN.search(last)))


def draws_geometry(function: Function, project: Project) -> bool:
    """Whether a function draws numbers from a generator that all share, and moves the picture by them."""
    drawn = _drawn(function, project)
    tests = [one for one in function.nodes_of((ast.If, ast.IfExp)) if _reads(one.test, drawn, function, project)]  # type: ignore[attr-defined]
    leaves = [one for one in tests if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return)]
    for node in function.nodes_of((ast.Call, ast.Subscript)):
        if isinstance(node, ast.Call) and _moves(node, function, project):
            given = [*node.args, *(one.value for one in node.keywords)]
            by_value = any(_reads(one, drawn, function, project) for one in given)
            by_test = any(any(inner is node for inner in walk(one)) for one in tests)
            if by_value or by_test or any(one.lineno < node.lineno for one in leaves):
                return True
        elif isinstance(node, ast.Subscript):
            slices = [one for one in walk(node.slice) if isinstance(one, ast.Slice)]
            if any(_reads(one, drawn, function, project) for one in slices):
                return True
            if any(_is_backwards(one) for one in slices) and any(
                any(inner is node for inner in walk(one)) for one in tests
            ):
                return True
    return False


def _is_backwards(part: ast.Slice) -> bool:
    return isinstance(part.step, ast.UnaryOp) and isinstance(part.step.op, ast.USub)


def _moves(call: ast.Call, function: Function, project: Project) -> bool:
    if last_name(call.func) in _MOVES:
        return True
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in _MOVES
        for target in project.targets(call, function)
        for node in target.nodes_of(ast.Call)
    )


def _drawn(function: Function, project: Project) -> set[str]:
    """Returns the names that hold what is drawn in each call, and what is computed from it."""
    names: set[str] = set()
    for _ in range(3):
        for node in function.nodes_of(ast.Assign):
            if isinstance(node, ast.Assign) and _reads(node.value, names, function, project):
                names |= {ast.unparse(one) for target in node.targets for one in _parts(target)}
    return names


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _reads(value: ast.AST, names: set[str], function: Function, project: Project) -> bool:
    """Whether a value is drawn, or computed from what is."""
    for node in walk(value):
        if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in names:
            return True
        if isinstance(node, ast.Call) and (_draws(node, function, project) or _draws_inside(node, function, project)):
            return True
    return False


def _draws(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call draws from a shared generator, and not once for several calls: `if self.state is None`."""
    if project.name(call.func, function) not in _DRAWS or any(one.arg == "generator" for one in call.keywords):
        return False
    file = project.file_with(function)
    around = file.parents.get(call)
    while around is not None and around is not function.syntax:
        if isinstance(around, ast.If) and any(
            isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.Is, ast.IsNot)) for one in walk(around.test)
        ):
            return False
        around = file.parents.get(around)
    return True


def _draws_inside(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a helper gives back what it draws: `top, left = self.get_params(x)`."""
    return any(
        isinstance(node, ast.Call) and _draws(node, target, project)
        for target in project.targets(call, function)
        for node in target.nodes_of(ast.Call)
        if any(isinstance(one, ast.Return) and one.value is not None for one in target.nodes_of(ast.Return))
    )
