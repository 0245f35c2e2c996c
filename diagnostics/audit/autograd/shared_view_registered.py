"""A buffer or parameter is registered that shares its memory.

What it does: flags register_buffer() and nn.Parameter() of what expand(), expand_as() or broadcast_to() gives without a
copy, where a dimension of size 1 becomes longer; nn.Parameter() of a slice of another parameter of the model; and
modules with one weight (`self.head.weight = self.embed.weight`) that FSDP is told to shard one by one.

Why it matters: DDP's first broadcast, load_state_dict() and every optimizer write into it, and torch refuses:
"unsupported operation: more than one element of the written-to tensor refers to a single memory location". It works
until the model is wrapped or a checkpoint is loaded.
A parameter that is a slice of another one is stepped twice on the CPU, and after .cuda() both are copies that part.

Bad:

    self.register_buffer("season", torch.ones(1, hidden).expand(4, hidden))

Good:

    self.register_buffer("season", torch.ones(1, hidden).repeat(4, 1))

`torch.arange(n).expand(1, -1)` only adds a dimension of size 1 and is fine, and so are tied weights
(`self.head.weight = self.embed.weight`) under DDP.

What it cannot see: sizes that are not written down (there it says possible), and views behind functions:
`ups-doctor inspect` shows which tensors share memory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.operator_tables import EXPANDS
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.fsdp_tied_weights import Tied, tied_units
from diagnostics.static.torch_code.module_classes import is_none, own_attribute

CODE = "A305"
NAME = "shared-view-registered"
SEVERITY = Severity.ERROR
WORDS = ("register_buffer", "Parameter", "FullyShardedDataParallel", "fully_shard")
_UNITS = ("FullyShardedDataParallel", "fully_shard")
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_MAKERS = frozenset(["ones", "zeros", "empty", "rand", "randn", "full"])
_FIX = "give it memory of its own: .clone() or .contiguous() after expand(), or repeat()"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the registrations of tensors whose elements share memory."""
    if not file.words.isdisjoint(_UNITS):
        for function in project.functions_in(file):
            yield from (_in_two_units(file, tied) for tied in tied_units(function, project))
    for call, function in project.calls_in(file):
        yield from _slices(file, call, function, project)
        value = _registered(call, function, project)
        value = _behind(value, function) if value is not None else None
        if isinstance(value, ast.Call) and last_name(value.func) in EXPANDS:
            longer = _grows(value, function)
            if longer is not None:
                yield _hit(file, call, value, Confidence.CONFIRMED if longer else Confidence.POSSIBLE)


def _in_two_units(file: ProjectFile, tied: Tied) -> Violation:
    one, other = ast.unparse(tied.first.args[0]), ast.unparse(tied.second.args[0])
    return violation(
        file,
        tied.second,
        f"{one} and {other} share a weight and are put into two units of FSDP: each shards and steps a weight of its "
        "own, and they are tied no more",
        "leave both to the unit around them, or put them into one",
        steps=(
            step(tied.home, tied.tie, "the weights are tied"),
            step(file, tied.first, f"{one} is a unit"),
            step(file, tied.second, f"{other} is another one"),
        ),
        confidence=Confidence.LIKELY,
    )


def _slices(file: ProjectFile, call: ast.Call, function: Function, project: Project) -> Iterator[Violation]:
    """Yields `self.q = nn.Parameter(self.qk.data[:d])` where self.qk is a parameter that stays."""
    kept = file.parents.get(call)
    attribute = own_attribute(kept.targets[0]) if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else ""
    base = _sliced(call.args[0]) if attribute and _is_parameter(call, function, project) and call.args else ""
    if not base or base == attribute:
        return
    made = [
        node
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign) and own_attribute(node.targets[0]) == base
    ]
    deleted = any(isinstance(node, ast.Delete) and any(own_attribute(one) == base for one in node.targets)
                  for node in function.nodes_of(ast.Delete))  # fmt: skip
    whole = made[0].value if len(made) == 1 and made[0].lineno < call.lineno else None
    if deleted or not isinstance(whole, ast.Call) or not _is_parameter(whole, function, project):
        return
    yield violation(
        file,
        call,
        f"the parameter self.{attribute} is a slice of the parameter self.{base}: the optimizer steps the same memory "
        "twice, and after .cuda() they are two copies that part",
        f"keep one parameter, and take the slice of self.{base} in forward()",
        steps=(step(file, made[0], f"self.{base} is a parameter"), step(file, call, "so is a part of its memory")),
    )


def _is_parameter(call: ast.Call, function: Function, project: Project) -> bool:
    return project.name(call.func, function) in _PARAMETERS


def _sliced(value: ast.expr) -> str:
    """Returns the x of `self.x.data[:n]`, of what shares memory with it for certain."""
    if not isinstance(value, ast.Subscript) or not _is_slice(value.slice):
        return ""
    base = value.value
    if isinstance(base, ast.Call) and last_name(base.func) == "detach" and isinstance(base.func, ast.Attribute):
        base = base.func.value
    if isinstance(base, ast.Attribute) and base.attr == "data":
        base = base.value
    return own_attribute(base)


def _is_slice(key: ast.expr) -> bool:
    """Whether a key gives a view: slices and written numbers; tensors and lists give copies."""
    if isinstance(key, ast.Tuple):
        return bool(key.elts) and all(_is_slice(one) for one in key.elts)
    return isinstance(key, ast.Slice) or (isinstance(key, ast.Constant) and isinstance(key.value, int))


def _hit(file: ProjectFile, call: ast.Call, value: ast.Call, confidence: Confidence) -> Violation:
    what = "buffer" if last_name(call.func) == "register_buffer" else "parameter"
    return violation(
        file,
        call,
        f"the {what} comes from {last_name(value.func)}() and its elements share memory: DDP's first broadcast and "
        "load_state_dict() cannot write it",
        _FIX,
        steps=(step(file, value, "several elements refer to one place in memory"),),
        confidence=confidence,
    )


def _registered(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    """Returns what a call registers."""
    if last_name(call.func) == "register_buffer" and isinstance(call.func, ast.Attribute):
        words = {one.arg: one.value for one in call.keywords}
        value = call.args[1] if len(call.args) > 1 else words.get("tensor")
        return value if value is not None and not is_none(value) else None
    if _is_parameter(call, function, project) and call.args:
        return call.args[0]
    return None


def _behind(value: ast.expr, function: Function) -> ast.expr:
    """Returns what a local name was assigned, once."""
    if isinstance(value, ast.Name) and len(function.assigned.get(value.id, ())) == 1:
        return function.assigned[value.id][0]
    return value


def _grows(value: ast.Call, function: Function) -> bool | None:
    """Whether a dimension of size 1 becomes longer; None where it certainly does not, False where it is not known."""
    if last_name(value.func) != "expand" or not isinstance(value.func, ast.Attribute):
        return False
    wanted = _sizes(value.args)
    if wanted is None:
        return False
    base = _behind(value.func.value, function)
    have = _shape(base)
    longer = [size for size in wanted if ast.unparse(size) not in ("1", "-1")]
    if not longer:
        return None
    if have is None:
        return False
    padded = [None] * (len(wanted) - len(have)) + list(have)
    return _compared(wanted, padded)


def _compared(wanted: Sequence[ast.expr], have: Sequence[ast.expr | None]) -> bool | None:
    answers = []
    for size, old in zip(wanted, have, strict=False):
        new, before = ast.unparse(size), "1" if old is None else ast.unparse(old)
        if new in ("-1", "1") or new == before:
            continue
        # A dimension that is not 1 cannot be expanded, so that another expression for it says the same size.
        if before == "1":
            answers.append(isinstance(size, ast.Constant) and isinstance(size.value, int))
    return any(answers) if answers else None


def _sizes(values: Sequence[ast.expr]) -> list[ast.expr] | None:
    if len(values) == 1 and isinstance(values[0], (ast.Tuple, ast.List)):
        values = values[0].elts
    return None if any(isinstance(one, ast.Starred) for one in values) or not values else list(values)


def _shape(base: ast.expr) -> list[ast.expr] | None:
    """Returns the sizes written down for a tensor: of torch.ones(1, n), of x.view(1, -1), of a number."""
    if not isinstance(base, ast.Call):
        return None
    name = last_name(base.func)
    if name in _MAKERS and not own_attribute(base.func):
        return _sizes(base.args[:1] if name == "full" else base.args)
    if name in ("view", "reshape") and isinstance(base.func, ast.Attribute):
        return _sizes(base.args)
    if name == "tensor" and base.args and isinstance(base.args[0], ast.Constant):
        return []
    return None
