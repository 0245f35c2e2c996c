"""A cache is found by a key that leaves out a setting its contents follow from.

What it does: flags a function that hashes some settings for the name of a cache file, where what is put into the file
is made with another setting of the same configuration; and a key of a path alone that is handed over together with
settings which what is cached is made with.

Why it matters: a run with another template, another tokenizer or another filter finds the file of the run before and
trains on it. Nothing fails, and no change of the setting has any effect until somebody deletes the cache.

Bad:

    key = hash_of({"file": cfg["file"], "max_length": cfg["max_length"]})
    ... render(messages, cfg["template"])

Good:

    key = hash_of({"file": cfg["file"], "max_length": cfg["max_length"], "template": cfg["template"]})

What it cannot see: settings that change nothing of what is cached; those of paths, workers and logs are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A181"
NAME = "cache-key-lacks-setting"
SEVERITY = Severity.WARNING
WORDS = ("hashlib",)
CHECKLIST = "the key of a cache holds all that its contents follow from"
_BESIDE = re.compile(
    r"path|dir|root|folder|file|worker|proc|thread|verbos|log|cache|device|overwrite|force|debug|rank|batch|progress|out",
    re.IGNORECASE,
)
_EXISTS = frozenset(["exists", "is_file", "isfile"])
_LOADS = frozenset(["load", "loads", "load_from_disk", "read_pickle", "read_parquet", "open"])
_SAVES = frozenset(["save", "dump", "save_to_disk", "to_pickle", "to_parquet", "savez", "write"])
_DEPTH = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the keys that are too short."""
    for function in () if file.is_test else project.functions_in(file):
        digest = next((one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)
                       and last_name(one.func) in ("hexdigest", "digest")), None)  # fmt: skip
        if digest is None or function.is_generator:
            continue
        yield from _of_path(digest, file, function, project)
        for name in function.parameters[function.implied :]:
            keys = _keys(name, function, project, 0)
            if not keys or _is_read_whole(name, function):
                continue
            for call, caller in project.callers(function)[:4]:
                named = given(call, function.parameters[function.implied :])
                handed = next((ast.unparse(value) for each, value in named if each == name), "")
                if handed not in caller.parameters or not _is_cached(caller):
                    continue
                other = {key: place for key, place in _keys(handed, caller, project, _DEPTH).items()
                         if key not in keys and not _BESIDE.search(key)}  # fmt: skip
                for key, (node, where) in list(other.items())[:1]:
                    yield violation(
                        file,
                        digest,
                        f"what is cached follows from '{key}', too, which is not in this key: a run with another "
                        f"'{key}' reads what one before it has cached",
                        f"add '{key}' to what is hashed",
                        steps=(
                            step(project.file_with(caller), call, "the key names a file that is read where it exists"),
                            step(project.file_with(where), node, f"and made with '{key}' where it does not"),
                        ),
                        confidence=Confidence.LIKELY,
                    )
                    return


def _of_path(digest: ast.AST, file: ProjectFile, function: Function, project: Project) -> Iterator[Violation]:
    """Yields a key that hashes settings of one object, and is given with others of it to what keeps a cache."""
    hashed = {ast.unparse(one) for one in ast.walk(digest) if isinstance(one, ast.Attribute)}
    owners = {one.rpartition(".")[0] for one in hashed if not one.endswith((".encode", ".hexdigest", ".digest"))}
    key = next((name for name, values in function.assigned.items() if any(one is digest for one in values)), "")
    for call in function.nodes_of(ast.Call) if key else ():
        assert isinstance(call, ast.Call)  # noqa: S101 (asked for by kind)
        for one in (each for each in project.targets(call, function) if _is_cached(each)):
            named = list(given(call, one.parameters[one.implied :]))
            if not any(isinstance(value, ast.Name) and value.id == key for _, value in named):
                continue
            for name, value in named:
                text = ast.unparse(value)
                owner, _, setting = text.rpartition(".")
                if not isinstance(value, ast.Attribute) or owner not in owners - {""} or text in hashed:
                    continue
                if not _BESIDE.search(f"{setting} {name}") and _is_read(name, one):
                    yield violation(
                        file,
                        digest,
                        f"what is cached follows from '{setting}', too, which is not in this key: a run with another "
                        f"'{setting}' reads what one before it has cached",
                        f"add '{setting}' to what is hashed",
                        steps=(
                            step(file, call, "the key names a file that is read where it exists"),
                            step(project.file_with(one), one.syntax, f"and made with '{name}' where it does not"),
                        ),
                        confidence=Confidence.LIKELY,
                    )
                    return


def _is_read(name: str, function: Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in function.nodes_of(ast.Name))


def _keys(name: str, function: Function, project: Project, depth: int) -> dict[str, tuple[ast.AST, Function]]:
    """Returns the settings that a function reads of a mapping, itself or by what it hands the mapping to."""
    found: dict[str, tuple[ast.AST, Function]] = {}
    for node in function.nodes_of((ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == name:
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                found.setdefault(node.slice.value, (node, function))
        elif isinstance(node, ast.Call) and depth:
            for one in project.targets(node, function):
                for each, value in given(node, one.parameters[one.implied :]):
                    if ast.unparse(value) == name:
                        for key, place in _keys(each, one, project, depth - 1).items():
                            found.setdefault(key, place)
    return found


def _is_read_whole(name: str, function: Function) -> bool:
    """Whether a function does more with a mapping than to read settings of it: json.dumps(cfg), cfg.items()."""
    uses = [one for one in function.nodes_of(ast.Name) if isinstance(one, ast.Name) and one.id == name]
    read = [one.value for one in function.nodes_of(ast.Subscript) if isinstance(one, ast.Subscript)
            and isinstance(one.slice, ast.Constant)]  # fmt: skip
    return any(not any(one is each for each in read) for one in uses)


def _is_cached(function: Function) -> bool:
    """Whether a function reads a file where there is one, and writes it where there is none."""
    called = {last_name(one.func) for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)}
    return bool(called & _EXISTS and called & _LOADS and called & _SAVES)
