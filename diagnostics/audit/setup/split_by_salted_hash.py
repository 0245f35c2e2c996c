"""What is decided by hash() of a text, which is another number in each process.

What it does: flags `hash(text) % n` and `hash(text) & mask` in a program of several ranks, where what is hashed is
surely a text.

Why it matters: Python salts the hashes of texts anew in each process. Each rank holds out other samples: they train on
each other's test set, their epochs differ in length, and the shorter ones leave the others waiting. Where it deals
samples to ranks, some are read twice and some by nobody; and a run that goes on has another split than before.

Bad:

    held_out = [name for name in names if hash(name) % 20 == 0]

Good:

    held_out = [name for name in names if zlib.crc32(name.encode()) % 20 == 0]

What it cannot see: texts that nothing in the program says are texts; numbers are hashed alike everywhere.
PYTHONHASHSEED in a launch file or in the program takes it back.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, MANAGED, WRAPPERS

CODE = "A174"
NAME = "split-by-salted-hash"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "data-leakage", "several"
WORDS = ("hash",)
CHECKLIST = "what decides about samples is hashed alike in each process"
_TEXT_METHODS = frozenset(
    ["split", "rsplit", "strip", "lstrip", "rstrip", "lower", "upper", "format", "join", "encode", "decode", "replace",
     "removeprefix", "removesuffix", "as_posix", "read_text", "readline", "relative_to", "with_suffix", "partition"]
)  # fmt: skip
_TEXT_ATTRIBUTES = frozenset(["stem", "suffix", "__name__"])
_TEXT_CALLS = frozenset(["str", "repr", "os.path.basename", "os.path.join", "os.fspath", "pathlib.Path", "json.dumps"])
_TEXT_NAMES = re.compile(r"^(?:\w*_)?(?:name|path|file|filename|fname|url|text|stem|sentence|document)$")
_HARMLESS = re.compile(r"colou?r|palette|cache|emoji|lock|log", re.IGNORECASE)
_SEED = "PYTHONHASHSEED"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the decisions that each process takes in another way."""
    group = next(project.fact(ImportClosures).calls(file.shown, INIT, *WRAPPERS, *MANAGED), None)
    if group is None or file.is_test or any(_SEED in one.words for one in project.audited):
        return
    for call, function in project.calls_in(file):
        if not isinstance(call.func, ast.Name) or call.func.id != "hash" or len(call.args) != 1:
            continue
        if project.name(call.func, function) != "hash" or _HARMLESS.search(function.name):
            continue
        if function.name.rpartition(".")[2] == "__hash__" or not _is_reduced(call, file):
            continue
        if _is_text(call.args[0], function, project) and not is_rank_guarded(call, function, project):
            yield violation(
                file,
                call,
                f"hash({ast.unparse(call.args[0])[:40]}) of a text is another number in each process: ranks decide "
                "differently, and so does a run that goes on",
                "zlib.crc32(text.encode()), or hashlib.sha1(...) where it has to be even",
                steps=(step(project.file_with(group[1]), group[0], "the program runs on several ranks"),),
                confidence=Confidence.LIKELY,
            )


def _is_reduced(call: ast.Call, file: ProjectFile) -> bool:
    """Whether a hash is taken modulo a number, or masked: something is chosen by it."""
    inner: ast.AST = call
    outer = file.parents.get(call)
    while isinstance(outer, (ast.Call, ast.UnaryOp, ast.BinOp)):
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Mod, ast.BitAnd)) and outer.left is inner:
            return True
        if isinstance(outer, ast.Call) and last_name(outer.func) not in ("abs", "int"):
            return False
        inner, outer = outer, file.parents.get(outer)
    return False


def _is_text(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether what is hashed is a text, or a tuple with one."""
    if isinstance(value, ast.Tuple):
        return any(_is_text(one, function, project) for one in value.elts)
    if isinstance(value, ast.Name) and _is_declared(value.id, function):
        return True
    found = origins(value, function, project)
    told = [_looks_like_text(one, where, project) for one, where in found]
    if any(told):
        return True
    open_ = all(isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) for one, _ in found)
    return open_ and isinstance(value, (ast.Name, ast.Attribute)) and bool(_TEXT_NAMES.match(last_name(value)))


def _is_declared(name: str, function: Function) -> bool:
    arguments = getattr(function.syntax, "args", None)
    if not isinstance(arguments, ast.arguments):
        return False
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    declared = [one.annotation for one in every if one.arg == name and one.annotation is not None]
    return any(ast.unparse(one) in ("str", "Path", "bytes") for one in declared)


def _looks_like_text(value: ast.expr, function: Function, project: Project) -> bool:
    match value:
        case ast.JoinedStr():
            return True
        case ast.Constant(value=str() | bytes()):
            return True
        case ast.Tuple(elts=elts):
            return any(_looks_like_text(one, function, project) for one in elts)
        case ast.Subscript(value=inner):
            return isinstance(inner, ast.Call) and _looks_like_text(inner, function, project)
        case ast.Attribute(attr=attr):
            return attr in _TEXT_ATTRIBUTES
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in _TEXT_METHODS:
            return True
        case ast.Call(func=func):
            return project.name(func, function) in _TEXT_CALLS
    return False
