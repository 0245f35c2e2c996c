"""The target of a temporal difference goes on behind the end of an episode.

What it does: flags `reward + gamma * value`, where the value is what a network says of the next state, in a function
that has at hand whether the episode ended there (a field of the same record, a name of the same tuple, a parameter),
and where nothing that follows from it, no factor, mask or branch, comes into the target.

Why it matters: behind a terminal state there is nothing to come. The target takes what the network makes up for it all
the same: a crash is worth what would follow if there were no crash. The loss is small, and the policy is wrong.

Bad:

    target = batch.reward + gamma * target_net(batch.next_state).max(1).values

Good:

    target = batch.reward + gamma * (1 - batch.done) * target_net(batch.next_state).max(1).values

Left alone: targets of which a caller decides about the end, discounts that come with the samples, next states that are
None, and environments without terminal states (their `step` says False, or only counts to a limit).

What it cannot see: ends that are kept under names that do not tell, and targets in a function that is not given them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.influence import influenced, made_from
from diagnostics.static.samples.transitions import END, REWARD, Key, ends_beside, key_of, never_ends, unpacked

CODE = "A348"
NAME = "end-left-out-of-target"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
CHECKLIST = "targets of temporal differences stop at the end of an episode"
_DISCOUNT = re.compile(r"(?:^|_)(?:gammas?|discount(?:_factor|_rate)?)$", re.IGNORECASE)
# Words of what may already hold the end: masks, discounts of samples, next states that are not there.
_MAY_HOLD = re.compile(
    r"mask|final|terminal|not_?done|alive|contin|absorb|boot|valid|(?:^|_)(?:live|cont|ended?)(?:_|$)", re.IGNORECASE
)
_SAME = frozenset(["detach", "squeeze", "unsqueeze", "view", "reshape", "float", "to", "flatten", "clone"])
_LIBRARIES = ("torch.", "numpy.", "jax.", "math.", "random.")
_LEAVES = (ast.Break, ast.Continue, ast.Return)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the targets that no end of an episode comes into."""
    lower = file.text.lower()
    if file.is_test or not ("gamma" in lower or "discount" in lower) or never_ends(project):
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.BinOp):
            found = _target(node, function, project) if isinstance(node, ast.BinOp) else None
            if found is None:
                continue
            value, ends = found
            yield violation(
                file,
                node,
                f"'{ends[0][1]}' comes with these rewards and not into this target: what the network says of the state "
                "behind the end of an episode counts as if there were more to come",
                f"multiply the next value by (1 - {ends[0][1]}), or set it to 0 where the episode has ended",
                steps=(step(file, value, "the value of the next state"),),
                confidence=Confidence.LIKELY,
            )
            break


def _target(node: ast.BinOp, function: Function, project: Project) -> tuple[ast.expr, list[Key]] | None:
    """Returns (next value, ends at hand) of `reward + gamma * value` that no end comes into."""
    if not isinstance(node.op, ast.Add):
        return None
    for reward, product in ((node.left, node.right), (node.right, node.left)):
        value = _next_value(product, function, project)
        read = _rewards(reward, function) if value is not None else []
        ends = list(dict.fromkeys(end for one in read for end in ends_beside(one, function, project)))
        if value is None or not ends:
            continue
        of_next = made_from(value, function)
        if _is_of_next_state(of_next, read, function, project) and not _is_told(node, [*of_next, node], ends, function,
                                                                                project):  # fmt: skip
            return value, ends
    return None


def _next_value(product: ast.expr, function: Function, project: Project) -> ast.expr | None:
    """Returns what is multiplied by a discount, and by nothing else."""
    product = _plain(product)
    factors = _factors(product)
    discounts = [one for one in factors if _is_discount(one, function, project)]
    others = [one for one in factors if one not in discounts]
    return others[0] if len(discounts) == 1 and len(others) == 1 else None


def _factors(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return [*_factors(value.left), *_factors(value.right)]
    return [value]


def _is_discount(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether it is one number for all samples: `self.gamma`, `cfg["gamma"]`, `gamma ** n`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow):
        value = value.left
    key = key_of(value)
    if key is None or not _DISCOUNT.search(key[1]):
        return False
    if not key[0]:
        if any(key[1] in names for names, _ in unpacked(function)):
            return False
        if "discount" in key[1].lower() and key[1] in function.parameters and default_of(function, key[1]) is None:
            return False  # it may be one for each sample
        made = function.assigned.get(key[1], [])
        return all(isinstance(one, (ast.Constant, ast.Attribute, ast.Subscript)) for one in made)
    return not any(REWARD.search(one) for one in _held_by(key[0], function))


def _held_by(owner: str, function: Function) -> Iterator[str]:
    """Yields what else a function reads from an object."""
    for node in function.nodes_of((ast.Attribute, ast.Subscript)):
        key = key_of(node)
        if key is not None and key[0] == owner:
            yield key[1]


def _plain(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return value


def _rewards(value: ast.expr, function: Function) -> list[ast.AST]:
    """Returns what may be the rewards of a transition in a value."""
    return [one for one in made_from(value, function) if key_of(one) is not None]


def _is_of_next_state(
    made: Sequence[ast.AST], rewards: Sequence[ast.AST], function: Function, project: Project
) -> bool:
    """Whether a network of the program is asked about something of the same transition."""
    return any(
        isinstance(one, ast.Call) and _is_network(one, function, project)
        and any(_is_beside(read, rewards, function) for given in one.args for read in made_from(given, function))
        for one in made
    )  # fmt: skip


def _is_network(call: ast.Call, function: Function, project: Project) -> bool:
    named = call.func
    while isinstance(named, ast.Attribute):
        named = named.value
    name = project.name(call.func, function)
    return isinstance(named, ast.Name) and not name.startswith(_LIBRARIES) and last_name(call.func) not in _SAME


def _is_beside(read: ast.AST, rewards: Sequence[ast.AST], function: Function) -> bool:
    """Whether something is of the same transition as the rewards, and no reward itself."""
    key = key_of(read)
    keys = [one for one in map(key_of, rewards) if one is not None]
    if key is None or key in keys:
        return False
    if key[0]:
        return any(one[0] == key[0] for one in keys)
    together = [names for names, _ in unpacked(function) if any(not one[0] and one[1] in names for one in keys)]
    own = key[1] in function.parameters and any(not one[0] and one[1] in function.parameters for one in keys)
    return own or any(key[1] in names for names in together)


def _is_told(
    target: ast.BinOp, made: Sequence[ast.AST], ends: Sequence[Key], function: Function, project: Project
) -> bool:
    """Whether an end comes into a target: itself, by what follows from it, by a branch, a helper or a caller."""
    inside = [*made, *made_from(target, function)]
    if any(_MAY_HOLD.search(word) or END.search(word) for one in inside for word in _words(one)):
        return True
    if any(isinstance(one, ast.Call) and _knows_end(one, function, project) for one in inside):
        return True
    reached = influenced(ends, END, function)
    names = {key for one in inside if (key := key_of(one)) is not None}
    kept = _kept_as(target, function, project)
    if reached & (names | kept) or _is_branched(target, ends, function, project) or _asks_for_none(function):
        return True
    return bool(kept & _returned(function)) and any(
        END.search(word) or _MAY_HOLD.search(word)
        for _, caller in project.callers(function)
        for one in caller.own_nodes
        for word in _words(one)
    )


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield last_name(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _knows_end(call: ast.Call, function: Function, project: Project, rounds: int = 2) -> bool:
    """Whether a function that helps with the next value has to do with ends."""
    return any(
        any(END.search(word) or _MAY_HOLD.search(word) for one in target.own_nodes for word in _words(one))
        or (rounds and any(_knows_end(one, target, project, rounds - 1) for one in target.nodes_of(ast.Call)
                           if isinstance(one, ast.Call)))
        for target in project.targets(call, function)
    )  # fmt: skip


def _kept_as(target: ast.BinOp, function: Function, project: Project) -> set[Key]:
    """Returns what a target is assigned to."""
    file = project.file_with(function)
    around: ast.AST | None = target
    while around is not None and not isinstance(around, ast.stmt):
        around = file.parents.get(around)
    targets = around.targets if isinstance(around, ast.Assign) else [getattr(around, "target", None)]
    if isinstance(around, ast.Return):
        return {("", "return")}
    bases = (one.value if isinstance(one, ast.Subscript) else one for one in targets if one is not None)
    return {key for one in bases if (key := key_of(one)) is not None}


def _returned(function: Function) -> set[Key]:
    found = {("", "return")}
    for node in function.nodes_of(ast.Return):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            found |= {key for one in parts if (key := key_of(_plain(one))) is not None}
    return found


def _is_branched(target: ast.BinOp, ends: Sequence[Key], function: Function, project: Project) -> bool:
    """Whether a test of the end stands around a target, or leaves before it."""
    file = project.file_with(function)
    tests = [node for node in function.nodes_of((ast.If, ast.IfExp)) if _reads_end(node.test, ends)]  # type: ignore[attr-defined]
    around: ast.AST | None = target
    while around is not None and around is not function.syntax:
        if any(around is one for one in tests):
            return True
        around = file.parents.get(around)
    return any(
        isinstance(one, ast.If) and one.lineno < target.lineno and any(isinstance(part, _LEAVES) for part in one.body)
        for one in tests
    )


def _reads_end(value: ast.AST, ends: Sequence[Key]) -> bool:
    return any(key in ends or END.search(key[1]) for one in walk(value) if (key := key_of(one)) is not None)


def _asks_for_none(function: Function) -> bool:
    """Whether next states that are not there are left out: `s for s in batch.next_state if s is not None`."""
    return any(
        isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
        for around in function.nodes_of((ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.Lambda, ast.Call))
        for node in walk(around)
    )
