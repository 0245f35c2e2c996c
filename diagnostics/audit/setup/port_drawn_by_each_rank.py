"""Each rank draws the port at which it is to meet the others.

What it does: flags `init_process_group(init_method=f"tcp://...:{port}", rank=...)` whose port is a random number, or a
free one that the system gave, worked out by every rank; and `os.environ["MASTER_PORT"]` that each process which
torch.multiprocessing.spawn has started sets to such a number.

Why it matters: rank 0 waits at its port and the others ask at theirs; all end with the rendezvous timeout.

Bad:

    port = random.randint(20000, 30000)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)

Good:

    dist.init_process_group("nccl")                # MASTER_PORT of the launcher
    mp.spawn(train, args=(free_port(),), nprocs=2) # drawn once, in front of the ranks

What it cannot see: a port that is handed over in a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.own_sources import own_source
from diagnostics.static.dataflow.rank_guards import conditions, reaching_values
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.launch_files.rank_environment import environment_writes
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.every_rank import EveryRank
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A170"
NAME = "port-drawn-by-each-rank"
SEVERITY = Severity.ERROR
WORDS = ("init_method", "MASTER_PORT")
CHECKLIST = "all ranks meet at one port"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the meetings at a port that each rank draws by itself, where something else has started the ranks."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != INIT or not project.fact(EveryRank).runs(call, function):
            continue
        numbered = [one.value for one in call.keywords if one.arg == "rank"]
        told = any(source_of(node) == RANK for one in numbered for node in walk(one))
        for where in (one.value for one in call.keywords if one.arg == "init_method" and told):
            inside = [each for each in _calls_behind(where, function, project) if project.fact(EveryRank).runs(*each)]
            drawn = [own_source(*each, project) or _free_port(*each, project) for each in inside]
            port = own_source(where, function, project) or next(filter(None, drawn), None)
            if port is not None and project.fact(EveryRank).runs(*port):  # not drawn before ranks are spawned
                home = project.file_with(port[1])
                yield violation(
                    file,
                    call,
                    f"each rank takes a port of its own, {ast.unparse(port[0])[:40]}, and waits there for the others",
                    "take the port from the launcher (init_method='env://'), or draw it once and hand it to every rank",
                    steps=(step(home, port[0], "another number on each rank"),),
                    confidence=Confidence.LIKELY,
                )
    yield from _exported(file, project)


def _exported(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the ports that spawned ranks write into their own environments, where nothing asks what is there."""
    everywhere = project.fact(EveryRank)
    for function in project.functions_in(file):
        for one in environment_writes(function) if everywhere.is_spawned(function) else ():
            if one.name != "MASTER_PORT" or any(_asks_for_port(test) for test in conditions(one.node, function, file)):
                continue
            inside = (each for each in _calls_behind(one.value, function, project) if everywhere.is_spawned(each[1]))
            drawn = (own_source(*each, project) or _free_port(*each, project) for each in inside)
            port = next((each for each in drawn if each is not None), None)
            if port is not None and everywhere.runs(one.node, function):
                yield violation(
                    file,
                    one.node,
                    f"each spawned process takes a port of its own, {ast.unparse(port[0])[:40]}, and waits there for "
                    "the others",
                    "draw the port once, before mp.spawn, and hand it over: args=(world, args, port)",
                    steps=(step(project.file_with(port[1]), port[0], "another number in each process"),),
                    confidence=Confidence.LIKELY,
                )


def _calls_behind(value: ast.expr, function: Function, project: Project, rounds: int = 3) -> Iterator[Origin]:
    """Yields the calls that a value is made by, each with the function in which it is written."""
    for node in walk(value):
        if isinstance(node, ast.Call) and (project.targets(node, function) or source_of(node) is not None):
            yield node, function
        elif isinstance(node, ast.Name) and rounds:
            for made, where in reaching_values(node, function, project):
                yield from _calls_behind(made, where, project, rounds - 1)


def _asks_for_port(test: ast.expr) -> bool:
    """Whether a test asks if there is a port already."""
    return any(isinstance(node, ast.Constant) and node.value == "MASTER_PORT" for node in walk(test))


def _free_port(where: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns the call of a function of the project that asks the system for a free port."""
    for name in (one for one in walk(where) if isinstance(one, (ast.Name, ast.Attribute, ast.Call))):
        for made, home in origins(name, function, project):
            for node in walk(made):
                if isinstance(node, ast.Call) and last_name(node.func) == "getsockname":
                    return made, home
    return None
