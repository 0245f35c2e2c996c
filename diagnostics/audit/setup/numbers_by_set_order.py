"""Classes or words are numbered in the order of a set: in each process another one has number 0.

What it does: flags `{name: i for i, name in enumerate(set(names))}`, and loops that number what a set of texts gives,
in a program of several ranks, or in one that writes data or weights and keeps the numbers nowhere.

Why it matters: Python hashes texts with a seed of its own in each process. Class 0 is "cat" on one rank and "dog" on
the next; gradients of different tasks are averaged, and the loss stays high without any error. A checkpoint that is
read later fits no run.

Bad:

    ids = {name: number for number, name in enumerate(set(names))}

Good:

    ids = {name: number for number, name in enumerate(sorted(set(names)))}

What it cannot see: a set of numbers, whose order is the same everywhere; and numbers that rank 0 hands out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

CODE = "A166"
NAME = "numbers-by-set-order"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "rank-divergence", "several"
WORDS = ("enumerate",)
CHECKLIST = "classes and words have one number on all ranks"
_TEXTS = re.compile(
    r"name|label|class|tag|word|token|text|category|categories|genre|lang|speaker|stem|title|char|vocab", re.IGNORECASE
)
_NUMBERS = re.compile(r"\bint\(|idx|index|indices|\bids?\b|_ids?\b|rank|step|layer|\bdim", re.IGNORECASE)
_SAVES = frozenset(["savez", "savez_compressed", "save_pretrained", "save_file", "tofile", "state_dict",
                    "TFRecordWriter", "ShardWriter"])  # fmt: skip
_READS = frozenset(["load_state_dict", "from_pretrained", "load_from_checkpoint"])
_NUMBERS_READ = {"json.load", "json.loads", "pickle.load", "yaml.safe_load", "yaml.load", "torch.load", "joblib.load"}
_HANDED_OUT = frozenset(["broadcast_object_list", "PYTHONHASHSEED"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the numbers that follow from the order of a set."""
    closures = project.fact(ImportClosures)
    group = next(closures.calls(file.shown, INIT, *WRAPPERS), None)
    if file.is_test or closures.words(file.shown) & _HANDED_OUT:
        return
    for function in project.functions_in(file):
        for node, over in _numbered(function):
            found = _set(over, function, project)
            if found is None or is_rank_guarded(node, function, project):
                continue
            if group is None:
                yield from _by_process(file, node, found, function, project)
                continue
            yield violation(
                file,
                node,
                f"{ast.unparse(found)[:50]} has another order in each process, and numbers follow from it: one rank's "
                "class 0 is another one than the next rank's",
                "sort it first: enumerate(sorted(set(...)))",
                steps=(step(project.file_with(group[1]), group[0], "the program runs on several ranks"),),
                confidence=Confidence.LIKELY,
            )


def _by_process(
    file: ProjectFile, node: ast.AST, found: ast.expr, function: Function, project: Project
) -> Iterator[Violation]:
    """Yields the numbers that a later process will give otherwise: they are in what is saved, and nobody saves them."""
    words = project.fact(ImportClosures).words(file.shown)
    reads = any(project.name(call.func, where) in _NUMBERS_READ for call, where in project.calls_in(file))
    runs = None if reads else _runs(file, project)
    if runs is not None:
        yield violation(
            file,
            node,
            f"{ast.unparse(found)[:50]} has another order in each process, and numbers follow from it: each run of "
            "this program, one for each part of the data, numbers the classes otherwise",
            "sort it first: enumerate(sorted(set(...)))",
            steps=(ExplanationStep(place=runs[0].place(runs[1]), text="the program runs several times"),),
            confidence=Confidence.LIKELY,
        )
        return
    saved = next(iter(sorted(words & _SAVES)), "")
    if not saved or not (words & _READS or not words & {"backward"}) or _is_stored(node, function, project):
        return
    yield violation(
        file,
        node,
        f"{ast.unparse(found)[:50]} has another order in each process, and the numbers that follow from it are kept "
        "nowhere: what this run writes, another run reads with other classes",
        "sort it first, enumerate(sorted(set(...))), or save the numbers with what they are for",
        steps=(step(project.file_with(function), node, f"numbered here; the program writes with {saved}()"),),
        confidence=Confidence.LIKELY,
        severity=Severity.WARNING,
    )


def _runs(file: ProjectFile, project: Project) -> tuple[ProjectFile, int] | None:
    """Returns where a script runs a file in a loop or several times, None where none does."""
    name = file.shown.rpartition("/")[2]
    for one in project.audited:
        if one.kind is not FileKind.SHELL or name not in one.text:
            continue
        found = []
        for command in (each for script in embedded_scripts(one) for each in script.commands):
            calls = launcher_calls(command.words)
            if calls and calls[-1].script.rpartition("/")[2] == name:
                found.append(command)
                if len(found) > 1 or any(around.kind in ("for", "while") for around in command.around):
                    return one, place(one, command)[0]
    return None


def _is_stored(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether the mapping may be written somewhere, whole: handed to what is no function of the project."""
    names = _names_of(node, function, project, 2)
    for one in project.functions:
        for use in one.nodes_of((ast.Name, ast.Attribute)):
            if last_name(use) not in names or not isinstance(use.ctx, ast.Load):  # type: ignore[attr-defined,arg-type]
                continue
            outer = project.file_with(one).parents.get(use)
            if isinstance(outer, (ast.Dict, ast.keyword, ast.FormattedValue, ast.DictComp, ast.comprehension)):
                return True
            if isinstance(outer, ast.Attribute) and outer.attr in ("items", "keys", "values", "copy", "update"):
                return True
            ours = isinstance(outer, ast.Call) and bool(project.targets(outer, one))
            if isinstance(outer, ast.Call) and not ours and last_name(outer.func) not in ("len", "print"):
                return True
    return not names


def _names_of(node: ast.AST, function: Function, project: Project, depth: int) -> set[str]:
    """Returns what a mapping is called where it is made, and where a caller gets it back."""
    file = project.file_with(function)
    outer = file.parents.get(node)
    while isinstance(outer, (ast.Tuple, ast.IfExp)):
        outer = file.parents.get(outer)
    if isinstance(outer, ast.Assign):
        made = {last_name(one) for one in outer.targets}
        return made | (_given_back(made, function, project, depth) if depth else set())
    if isinstance(outer, ast.Return) and depth:
        found = [_names_of(call, caller, project, depth - 1) for call, caller in project.callers(function)[:6]]
        return set().union(*found)
    if isinstance(node, ast.For):
        made = {last_name(one.targets[0].value) for one in node.body if isinstance(one, ast.Assign)
                and isinstance(one.targets[0], ast.Subscript)}  # fmt: skip
        return made | (_given_back(made, function, project, depth) if depth else set())
    return set()


def _given_back(names: set[str], function: Function, project: Project, depth: int) -> set[str]:
    returns = [one for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return)]
    if not any(isinstance(one.value, ast.Name) and one.value.id in names for one in returns):
        return set()
    found = [_names_of(call, caller, project, depth - 1) for call, caller in project.callers(function)[:6]]
    return set().union(*found)


def _numbered(function: Function) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields (where, over what) a mapping from items to their numbers is made."""
    for node in function.nodes_of((ast.DictComp, ast.For)):
        if isinstance(node, ast.DictComp) and len(node.generators) == 1:
            number, over = _counted(node.generators[0].target, node.generators[0].iter)
            if over is not None and number in (ast.unparse(node.value), ast.unparse(node.key)):
                yield node, over
        elif isinstance(node, ast.For):
            number, over = _counted(node.target, node.iter)
            stores = (one for one in node.body if isinstance(one, ast.Assign) and ast.unparse(one.value) == number)
            if over is not None and any(isinstance(one.targets[0], ast.Subscript) for one in stores):
                yield node, over


def _counted(target: ast.expr, over: ast.expr) -> tuple[str, ast.expr | None]:
    counts = isinstance(over, ast.Call) and last_name(over.func) == "enumerate" and over.args
    if not counts or not isinstance(target, ast.Tuple) or not isinstance(over, ast.Call):
        return "", None
    return ast.unparse(target.elts[0]), over.args[0]


def _set(value: ast.expr, function: Function, project: Project) -> ast.expr | None:
    """Returns the set of texts that is gone through, None where it is sorted, or may hold numbers."""
    found = origins(value, function, project)
    for one, where in found[:1] if len(found) == 1 else ():
        if isinstance(one, ast.Call) and last_name(one.func) in ("list", "tuple") and one.args:
            return _set(one.args[0], where, project)
        if isinstance(one, ast.SetComp) or (isinstance(one, ast.Call) and project.name(one.func, where) == "set"):
            return one if _TEXTS.search(ast.unparse(one)) and not _NUMBERS.search(ast.unparse(one)) else None
        if isinstance(one, ast.Set):
            texts = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in one.elts)
            return one if texts and len(one.elts) > 1 else None
    return None
