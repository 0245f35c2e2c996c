"""Targets of a contrastive loss that are moved on to a rank's place where no other rank's features are. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnostics.static.executed.models.local_targets import (
    JOINS,
    KEEPS,
    KEEPS_FIRST,
    PRODUCTS,
    SCALED,
    gathers,
    is_loss,
    sides,
)
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import (
    UNKNOWN,
    Class,
    Const,
    Items,
    Made,
    OneOf,
    Value,
    options,
    sources,
    usual,
)
from diagnostics.static.launch_files.yaml_nodes import documents, mappings
from diagnostics.static.program.project import Project

_REPEATS = KEEPS | {".repeat", ".unsqueeze", ".squeeze", ".expand", ".repeat_interleave"}
_RANKS = re.compile(r"world|rank|ddp|parallel|multi|initialized|num_gpus|^(?:is_)?dist(?:ributed)?$", re.IGNORECASE)
_TRUE = ("true", "yes", "on")
_DEPTH = 10


def targets_with_rank_alone(execution: Execution, project: Project) -> Iterator[tuple[Event, Made, str]]:
    """Yields (loss, shifted targets, option) where `arange(n) + n * rank` meets logits of the rank's own batch.

    `option` says which test lets the features be gathered, and is not asked about the targets; "" where nothing
    gathers them at all.
    """
    for loss in execution.events:
        if not is_loss(loss):
            continue
        shifted = _shifted(loss.argument(1, "target"))
        products = list(_products(loss.argument(0, "input"), _DEPTH)) if shifted is not None else []
        given = [side for one in products for side in sides(one)]
        if shifted is None or not given or any(side is None or _is_unclear(side) for side in given):
            continue
        if not any(_is_gathered(each) for side in given for each in sources(side)):
            yield loss, shifted, ""
            continue
        for one in products:
            flag = next((found for side in sides(one) if (found := _only_under(side, _DEPTH))), None)
            if flag is not None and _may_be_off(flag, project):
                yield loss, shifted, _name_of(flag)
                break


def _shifted(target: Value | None) -> Made | None:
    """Returns the sum of arange() and of something of the rank that targets are wherever there are several ranks."""
    if isinstance(target, OneOf) and not all(_is_about_ranks(test) for test in target.tests):
        return None
    for one in options(target):
        for _ in range(_DEPTH):
            if not isinstance(one, Made) or one.name not in _REPEATS or one.owner is None:
                break
            one = one.owner
        if not isinstance(one, Made) or one.name != "+" or len(one.args) != 2:
            continue
        for counted, moved in (one.args, one.args[::-1]):
            begins = isinstance(counted, Made) and counted.name == "torch.arange" and len(counted.args) == 1
            if begins and _is_of_rank(moved):
                return one
    return None


def _is_of_rank(moved: Value) -> bool:
    """Whether a value is the rank's place, on each rank: no option of the program's own leaves it at 0."""
    found = list(sources(moved))
    if any(isinstance(one, OneOf) and not all(_is_about_ranks(test) for test in one.tests) for one in found):
        return False
    return any(isinstance(one, Made) and one.name == "torch.distributed.get_rank" for one in found)


def _products(value: Value | None, depth: int) -> Iterator[Made]:
    """Yields the matrix products that logits are made of: scaled, masked, and joined with others."""
    for one in options(value) if depth else ():
        if isinstance(one, Items):
            for each in one.items:
                yield from _products(each, depth - 1)
        elif isinstance(one, Made) and one.name in PRODUCTS:
            yield one
        elif isinstance(one, Made) and (one.name in KEEPS or one.name == "[]"):
            yield from _products(one.owner, depth - 1)
        elif isinstance(one, Made) and one.name in JOINS | SCALED:
            for each in one.args[:1] if one.name in JOINS else one.args:
                yield from _products(each, depth - 1)


def _is_unclear(side: Value) -> bool:
    """Whether other ranks' features may be in a value in a way that is not known."""
    return any(
        one is UNKNOWN
        or (isinstance(one, Made) and "gather" in one.name.lower() and not gathers(one))
        or (isinstance(one, Made) and one.name == "argument")
        for one in _made_of(side)
    )


def _made_of(side: Value) -> Iterator[Value]:
    """Yields what features are made of, up to what a model gave."""
    waiting, seen = [side], set[int]()
    while waiting and len(seen) < 100:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, OneOf):
            waiting += one.options
        elif isinstance(one, Items):
            waiting += one.items
        elif isinstance(one, Made) and one.name != "()":
            waiting += [each for each in (one.owner, *one.args) if each is not None]


def _is_gathered(value: Value) -> bool:
    if isinstance(value, Class):
        return "gather" in value.kind.name.lower()
    return isinstance(value, Made) and (gathers(value) or value.name.startswith("torch.distributed."))


def _only_under(side: Value | None, depth: int) -> Value | None:
    """Returns the option of the program's own under which alone features are those of all ranks."""
    if isinstance(side, OneOf):
        whole = [any(_is_gathered(each) for each in sources(one)) for one in side.options]
        flags = [one for test in side.tests for one in _joined(test) if not _is_about_ranks(one)]
        return flags[0] if any(whole) and not all(whole) and flags else None
    if not isinstance(side, Made) or not depth:
        return None
    inner = side.owner if side.name in KEEPS else side.args[0] if side.name in KEEPS_FIRST and side.args else None
    return _only_under(inner, depth - 1)


def _joined(test: Value) -> Sequence[Value]:
    return test.args if isinstance(test, Made) and test.name == "and" else (test,)


def _is_about_ranks(test: Value) -> bool:
    """Whether a test asks whether there are several ranks, in each part of it."""
    if isinstance(test, Made) and test.name in ("and", "or", "not"):
        return all(_is_about_ranks(one) for one in test.args)
    if any(isinstance(one, Made) and one.name.startswith("torch.distributed.") for one in sources(test)):
        return True
    return isinstance(test, Const) or (not _name_of(test)) or bool(_RANKS.search(_name_of(test)))


def _name_of(flag: Value) -> str:
    """Returns the name of an option: an attribute, a key, an argument; "" where it has none."""
    if not isinstance(flag, Made):
        return ""
    if flag.name in ("[]", "argument", ".get") and flag.args and isinstance(flag.args[0], Const):
        return str(flag.args[0].value)
    return flag.name[1:] if flag.name.startswith(".") and not flag.args else ""


def _may_be_off(flag: Value, project: Project) -> bool:
    """Whether an option may be false: no default is true, nor is it in all configurations that name it."""
    told = usual(flag)
    if isinstance(told, Const):
        return not told.value
    name = _name_of(flag)
    given = [
        value.value.lower()
        for file in project.audited
        for document in documents(file)
        for mapping, _, _ in mappings(document)
        for key, value in mapping.value
        if key.value == name and isinstance(value.value, str)
    ]
    return bool(given) and not all(one in _TRUE for one in given)
