"""A run that goes on takes over the options of the run before, and then asks them whether it goes on.

What it does: flags `args = checkpoint["args"]`, `args.__dict__.update(...)` and the like, where the checkpoint was read
from a path that is one of these options (`torch.load(args.resume)`), and that option decides further down whether
weights are loaded, or from where, without having been set again.

Why it matters: the first run was not told to resume, and its options say so. The test further down is false: neither
weights nor optimizer are loaded, while epoch and best value, which were read before, are those of the checkpoint. The
run goes on in its middle with a fresh network.

Bad:

    if args.resume:
        checkpoint = torch.load(args.resume)
        args = checkpoint["args"]
    model = Net(args)
    if args.resume:
        model.load_state_dict(checkpoint["model"])

Good:

    if args.resume:
        resume = args.resume
        checkpoint = torch.load(resume)
        args = checkpoint["args"]
        args.resume = resume

What it cannot see: options that are handed on through objects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.checkpoints.branches_around import around, climb, leaves
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A369"
NAME = "options-of-first-run"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("torch",)
SUBJECT = ("resume",)
CHECKLIST = "what a run was told about resuming outlives the options of its checkpoint"
_MOST = 4  # names between a file that was read and what is taken out of it
_KEPT = ("load_state_dict", "load_model", "load_checkpoint", "load_weights", "restore", "load_pretrained")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the options that are lost before they are asked."""
    if file.is_test:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of((ast.Assign, ast.Expr)):
            whole, state = _replaced(node)
            if state is None or not whole:
                continue
            for read in _read_from(state, function, project, _MOST):
                for option in dict.fromkeys(_options(read, whole)):
                    asked = _asked_behind(node, whole, option, function, file, project)
                    if asked is not None:
                        yield violation(
                            file,
                            node,
                            f"from here on `{whole}` are the options of the run that wrote the checkpoint, in which "
                            f"{option} was not set: what asks {whole}.{option} further down does not load its states",
                            f"keep {whole}.{option} under another name before, and set it again behind this",
                            steps=(
                                step(file, read, "the checkpoint is read from this option"),
                                step(project.file_with(asked[1]), asked[0], "and this asks it again"),
                            ),
                            confidence=Confidence.LIKELY,
                        )
                        break
                else:
                    continue
                break


def _replaced(node: ast.AST) -> tuple[str, ast.expr | None]:
    """Returns the options that a statement replaces, and what it takes instead."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=whole, attr="__dict__")], value=value):
            return ast.unparse(whole), value
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as whole], value=value):
            return ast.unparse(whole), value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr="update"), args=[value])):
            if isinstance(held, ast.Attribute) and held.attr == "__dict__":
                return ast.unparse(held.value), value
            if isinstance(held, ast.Call) and last_name(held.func) == "vars" and len(held.args) == 1:
                return ast.unparse(held.args[0]), value
    return "", None


def _read_from(value: ast.expr, function: Function, project: Project, rounds: int) -> Iterator[ast.Call]:
    """Yields the call of torch.load of which a value is an item: `checkpoint["args"]`, `Namespace(**saved["args"])`."""
    match value if rounds else None:
        case ast.Subscript(value=inner) | ast.Attribute(value=inner):
            yield from _whole(inner, function, project, rounds - 1)
        case ast.Call(func=ast.Attribute(attr="get" | "pop", value=inner), args=[ast.Constant(), *_]):
            yield from _whole(inner, function, project, rounds - 1)
        case ast.Call(func=func, args=args, keywords=keywords) if last_name(func) in ("Namespace", "vars", "deepcopy"):
            for one in (*args, *(each.value for each in keywords if each.arg is None)):
                yield from _read_from(one, function, project, rounds - 1)
        case ast.Name(id=name):
            for one in function.assigned.get(name, ()):
                yield from _read_from(one, function, project, rounds - 1)


def _whole(value: ast.expr, function: Function, project: Project, rounds: int) -> Iterator[ast.Call]:
    """Yields the call of torch.load that gave a value as a whole."""
    if isinstance(value, ast.Call) and project.name(value.func, function) == "torch.load":
        yield value
    elif isinstance(value, ast.Name) and rounds:
        for one in function.assigned.get(value.id, ()):
            yield from _whole(one, function, project, rounds - 1)


def _options(read: ast.Call, whole: str) -> Iterator[str]:
    """Yields the options in the path from which a checkpoint is read."""
    for node in (inner for one in read.args[:1] for inner in walk(one)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == whole:
            yield node.attr


def _asked_behind(
    node: ast.AST, whole: str, option: str, function: Function, file: ProjectFile, project: Project
) -> tuple[ast.AST, Function] | None:
    """Returns what asks an option behind a statement, to load something, where nobody has set the option again."""
    text, end = f"{whole}.{option}", getattr(node, "end_lineno", 0)
    inside = dict(around(node, function, file))
    later = sorted((one for one in function.own_nodes if getattr(one, "lineno", 0) > end), key=_place)
    for one in later:
        if _sets(one, whole, text):
            return None
        if not isinstance(one, (ast.If, ast.Call)):
            continue
        if any(inside.get(each, arm) != arm for each, arm in around(one, function, file)):
            continue
        if any(leaves(each, part) for part, each in climb(node, one, file)):
            continue
        if isinstance(one, ast.If) and _mentions(one.test, text) and _loads(one, function, project):
            return one.test, function
        if isinstance(one, ast.Call):
            if (project.name(one.func, function) == "torch.load" or last_name(one.func) in _KEPT) and any(
                _mentions(each, text) for each in one.args
            ):
                return one, function
            if (found := _asked_inside(one, whole, option, function, project)) is not None:
                return found
    return None


def _asked_inside(
    call: ast.Call, whole: str, option: str, function: Function, project: Project
) -> tuple[ast.AST, Function] | None:
    """Returns what asks an option in a function that is given the options."""
    for target in project.targets(call, function)[:2]:
        for name, value in given(call, target.parameters[target.implied :]):
            if ast.unparse(value) != whole:
                continue
            for one in target.nodes_of(ast.If):
                asks = isinstance(one, ast.If) and _mentions(one.test, f"{name}.{option}")
                if isinstance(one, ast.If) and asks and _loads(one, target, project):
                    return one.test, target
    return None


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _sets(node: ast.AST, whole: str, text: str) -> bool:
    """Whether a node may set an option, or all of them, again."""
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        return ast.unparse(node) in (whole, text)
    if isinstance(node, ast.Call):
        called = last_name(node.func)
        if called == "setattr" and node.args and ast.unparse(node.args[0]) == whole:
            return True
        if called == "update" and isinstance(node.func, ast.Attribute):
            return whole in {ast.unparse(one) for one in walk(node.func.value) if isinstance(one, ast.expr)}
        return called == "parse_args" and any(whole in ast.unparse(one) for one in (*node.args, *node.keywords))
    return False


def _mentions(value: ast.AST, text: str) -> bool:
    return any(isinstance(one, ast.Attribute) and ast.unparse(one) == text for one in walk(value))


def _loads(branch: ast.If, function: Function, project: Project) -> bool:
    """Whether a branch loads states."""
    calls = [one for part in branch.body for one in walk(part) if isinstance(one, ast.Call)]
    return any(project.name(one.func, function) == "torch.load" or last_name(one.func) in _KEPT for one in calls)
