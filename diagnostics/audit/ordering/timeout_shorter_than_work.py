"""The ranks wait for one rank's long work with a short time limit.

What it does: flags init_process_group with a limit of two minutes or less, written as a number, in a program where one
rank unpacks, tokenises or converts data while the others wait for it in a collective; ten minutes or less where it
downloads or runs other programs.

Why it matters: the limit holds for that wait, too. The work takes as long as the network and the data want; when it
takes longer than the limit, the waiting ranks abort, and the message is about a barrier.

Bad:

    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    if rank == 0:
        download_and_tokenize(root)
    dist.barrier()

Good:

    dist.init_process_group("nccl", timeout=timedelta(hours=2))

or prepare the data before the job.

What it cannot see: how long the work takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.executed.groups import limits
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSites
from diagnostics.static.torch_code.training_functions import INIT, group_timeout, timedelta_seconds

CODE = "A116"
NAME = "timeout-shorter-than-work"
SEVERITY = Severity.WARNING
WORDS = ("init_process_group",)
CHECKLIST = "time limits are longer than the longest wait"
_SHORT_S = 120
_LONGEST_S = 86400.0
_LEAST_S = 1.0
_SHORT_FOR_OTHERS_S = 600  # the network, other programs
_LONG = re.compile(
    r"download|urlretrieve|extractall|unpack|tokeni[sz]e|preprocess|prepare_data|build_(?:index|vocab|cache)|snapshot"
    r"|load_dataset|check_call|check_output|encode_corpus|convert|precompute|compile_dataset",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(r"download|urlretrieve|snapshot|load_dataset|check_call|check_output", re.IGNORECASE)
_ROUNDS = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the short limits of programs in which all wait for one rank's work."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one, seconds, without_unit in limits(execution):
        if not (without_unit and seconds >= _LONGEST_S) and seconds < _LONGEST_S * 7 and seconds >= _LEAST_S:
            continue
        yield violation(
            home(one, project),
            one.node,
            f"the ranks wait {seconds / 86400:g} days for one that does not come"
            + (": timedelta counts days where no unit is named" if without_unit else "")
            if seconds >= _LONGEST_S
            else f"the ranks wait {seconds:g} s at most: one that is loading or saving takes longer",
            "name the unit of the limit, e.g. timedelta(minutes=30)",
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != INIT:
            continue
        limit = group_timeout(call)
        seconds = _seconds(limit, function, project) if limit is not None else None
        if limit is None or seconds is None or seconds > _SHORT_FOR_OTHERS_S:
            continue
        work = next(_waited_for(file, project, _LONG if seconds <= _SHORT_S else _OF_OTHERS), None)
        if work is None:
            continue
        long, where, wait = work
        home = project.file_with(where)
        yield violation(
            file,
            limit,
            f"the ranks wait {seconds:g} s at most, also for one rank's {ast.unparse(long.func)[:40]}(): when that "
            "takes longer, they abort",
            "a limit above the longest wait, e.g. timeout=timedelta(hours=2), or prepare the data before the job",
            steps=(step(home, long, "one rank works"), step(home, wait, "the others wait for it")),
            confidence=Confidence.LIKELY,
        )


def _seconds(limit: ast.expr, function: Function, project: Project) -> float | None:
    """Returns the seconds of a timedelta of plain numbers, None of another value."""
    for value, where in origins(limit, function, project):
        if isinstance(value, ast.Call) and last_name(value.func) == "timedelta":
            return timedelta_seconds(value, where, project)
    return None


def _waited_for(
    file: ProjectFile, project: Project, words: re.Pattern[str]
) -> Iterator[tuple[ast.Call, Function, ast.AST]]:
    """Yields the long work of one rank, with the collective in which the others wait for it."""
    tests, sites = RankPredicates(project), project.fact(CollectiveSites)
    around = project.fact(ImportClosures).around(file.shown)
    for function in project.functions:
        if function.file not in around:
            continue
        for node in function.nodes_of(ast.If):
            if not isinstance(node, ast.If) or tests.asks(node.test, function) is None:
                continue
            long = next(
                (one for part in node.body for one in walk(part) if _is_long(one, function, project, words)), None
            )
            meets = (
                one for one in function.nodes_of(ast.Call)
                if isinstance(one, ast.Call) and one.lineno > (node.end_lineno or 0)
                and sites.of_call(one, function) is not None
            )  # fmt: skip
            wait = min(meets, key=lambda one: one.lineno, default=None)
            if isinstance(long, ast.Call) and wait is not None:
                yield long, function, wait


def _is_long(
    node: ast.AST, function: Function, project: Project, words: re.Pattern[str], rounds: int = _ROUNDS
) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if words.search(last_name(node.func)) or project.name(node.func, function) in ("subprocess.run", "os.system"):
        return True
    return rounds > 0 and any(
        _is_long(inner, target, project, words, rounds - 1)
        for target in project.targets(node, function)
        for inner in target.nodes_of(ast.Call)
    )
