"""Where a Python program takes its rank from, and which ranks it starts by itself. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.static.launch_files.launcher_environments import EXPORTERS
from diagnostics.static.launch_files.subprocess_commands import argv_text
from diagnostics.static.ordering.script_execution import ExecutedStatement, steps
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

RANK_NAMES = frozenset(["RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
_INIT = "torch.distributed.init_process_group"
_SPAWNS = frozenset(["torch.multiprocessing.spawn", "torch.multiprocessing.start_processes",
                     "torch.multiprocessing.spawn.spawn"])  # fmt: skip
_RUNS = frozenset(["subprocess.run", "subprocess.call", "subprocess.Popen", "subprocess.check_call",
                   "subprocess.check_output", "os.system", "os.execvp", "os.execv"])  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RankVariableUse:
    """One thing a program does about its ranks; `sure` where every start comes to it."""

    file: ProjectFile
    node: ast.AST
    what: str
    sure: bool
    step: ExecutedStatement


@dataclass(eq=False)
class RankEnvironment:
    """What is known of the programs of a project: one that a hundred launch lines start is walked once."""

    project: Project
    _needs: dict[str, RankVariableUse | None] = field(default_factory=dict)
    _starts: dict[str, tuple[RankVariableUse, ...]] = field(default_factory=dict)

    def needs(self, program: ProjectFile) -> RankVariableUse | None:
        """Returns the answer of needs_launcher()."""
        if program.shown not in self._needs:
            self._needs[program.shown] = _needs_launcher(program, self.project)
        return self._needs[program.shown]

    def starts(self, program: ProjectFile) -> tuple[RankVariableUse, ...]:
        """Returns the answer of starts_ranks()."""
        if program.shown not in self._starts:
            self._starts[program.shown] = tuple(_starts_ranks(program, self.project))
        return self._starts[program.shown]


def needs_launcher(program: ProjectFile, project: Project) -> RankVariableUse | None:
    """Returns the first place where a program takes its rank from the environment and has no other way.

    None where it sets them, spawns its own ranks, or asks whether the variable is there.
    """
    return project.fact(RankEnvironment).needs(program)


def starts_ranks(program: ProjectFile, project: Project) -> tuple[RankVariableUse, ...]:
    """Returns where a program starts ranks of its own: mp.spawn with a process group, or another launcher."""
    return project.fact(RankEnvironment).starts(program)


def _needs_launcher(program: ProjectFile, project: Project) -> RankVariableUse | None:
    found: RankVariableUse | None = None
    for one in steps(program, project):
        if _asks_or_sets(one.node) or _exports(one, project) or _started(one, project) is not None:
            return None
        read = _read(one, project) if found is None else None
        if read is not None:
            node, what = read
            found = RankVariableUse(file=project.file_with(one.function), node=node, what=what, sure=one.sure, step=one)
    return found


def _starts_ranks(program: ProjectFile, project: Project) -> Iterator[RankVariableUse]:
    for one in steps(program, project):
        started = _started(one, project)
        if started is not None:
            node, what = started
            yield RankVariableUse(file=project.file_with(one.function), node=node, what=what, sure=one.sure, step=one)


def is_environ(value: ast.AST) -> bool:
    """Whether an expression is os.environ."""
    return (isinstance(value, ast.Attribute) and value.attr == "environ") or (
        isinstance(value, ast.Name) and value.id == "environ"
    )


def environ_key(node: ast.AST) -> str:
    """Returns "RANK" of os.environ["RANK"], "" of anything else."""
    if isinstance(node, ast.Subscript) and is_environ(node.value) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else ""
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentWrite:
    """One variable that a program sets for itself: `os.environ["MASTER_PORT"] = str(port)`."""

    name: str
    value: ast.expr
    node: ast.AST
    function: Function


def environment_writes(function: Function) -> Iterator[EnvironmentWrite]:
    """Yields the variables that a function sets, whatever they were before."""
    for node in function.nodes_of((ast.Assign, ast.Call)):
        match node:
            case ast.Assign(targets=targets, value=value):
                for name in filter(None, map(environ_key, targets)):
                    yield EnvironmentWrite(name, value, node, function)
            case ast.Call(func=ast.Attribute(value=held, attr="update"), args=[ast.Dict() as given]) if is_environ(
                held
            ):
                for key, value in zip(given.keys, given.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield EnvironmentWrite(key.value, value, value, function)
            case ast.Call(func=ast.Attribute(value=held, attr="update"), keywords=named) if is_environ(held):
                yield from (EnvironmentWrite(one.arg, one.value, one.value, function) for one in named if one.arg)


def _read(one: ExecutedStatement, project: Project) -> tuple[ast.AST, str] | None:
    for node in walk(one.node):
        if environ_key(node) in RANK_NAMES and isinstance(getattr(node, "ctx", None), ast.Load):
            return node, f'os.environ["{environ_key(node)}"]'
        if isinstance(node, ast.Call) and project.name(node.func, one.function) == _INIT and _from_environment(node):
            return node, "init_process_group()"
    return None


def _from_environment(call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords}
    if None in given or len(call.args) > 1 or given & {"rank", "store", "world_size"}:
        return False
    backend = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "backend")]
    if any(isinstance(one, ast.Constant) and one.value == "mpi" for one in backend):
        return False  # MPI itself knows the ranks
    method = next((one.value for one in call.keywords if one.arg == "init_method"), None)
    return method is None or (isinstance(method, ast.Constant) and str(method.value).startswith("env"))


def _asks_or_sets(node: ast.AST) -> bool:
    """Whether a statement sets a variable of ranks, or asks whether it is there."""
    for one in walk(node):
        if environ_key(one) in RANK_NAMES - {"MASTER_ADDR", "MASTER_PORT"} and not isinstance(
            getattr(one, "ctx", None), ast.Load
        ):
            return True
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and is_environ(one.func.value):
            first = one.args[0] if one.args else None
            named = isinstance(first, ast.Constant) and first.value in ("RANK", "LOCAL_RANK", "WORLD_SIZE")
            if one.func.attr == "update" or (named and one.func.attr == "setdefault"):
                return True
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.In, ast.NotIn)):
            left = one.left
            if isinstance(left, ast.Constant) and left.value in RANK_NAMES and is_environ(one.comparators[0]):
                return True
        if isinstance(one, ast.Call) and last_name(one.func) == "is_torchelastic_launched":
            return True
    return False


def _exports(one: ExecutedStatement, project: Project) -> bool:
    """Whether a statement has a library set the variables of ranks."""
    names = (project.name(node.func, one.function) for node in walk(one.node) if isinstance(node, ast.Call))
    return any(name in EXPORTERS and "RANK" in EXPORTERS[name].sets for name in names)


def _started(one: ExecutedStatement, project: Project) -> tuple[ast.AST, str] | None:
    for node in walk(one.node):
        if not isinstance(node, ast.Call):
            continue
        name = project.name(node.func, one.function)
        if name in _SPAWNS and node.args and _makes_group(node.args[0], one.function, project):
            return node, f"{last_name(node.func)}() starts ranks of its own, each with init_process_group()"
        if name in _RUNS and node.args:
            command = argv_text(node.args[0], one.function, project)
            if "torchrun" in command.split() or "torch.distributed.run" in command or "accelerate launch" in command:
                return node, "it starts another launcher"
    return None


def _makes_group(target: ast.expr, function: Function, project: Project) -> bool:
    waiting = list(project.meant(target, function))
    seen: set[int] = set()
    while waiting and len(seen) < 60:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for node in one.nodes_of(ast.Call):
            if isinstance(node, ast.Call):
                if last_name(node.func) == "init_process_group":
                    return True
                waiting.extend(project.targets(node, one))
    return False
