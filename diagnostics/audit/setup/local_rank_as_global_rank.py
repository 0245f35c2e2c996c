"""The rank on one machine is taken for the rank among all processes.

What it does: flags DistributedSampler, init_process_group and shares `items[rank::world_size]` that are told
LOCAL_RANK, or the number that torch.multiprocessing.spawn hands out, where the program is started on several machines.

Why it matters: on one machine the two numbers are the same. On the second machine ranks begin at 0 again: two processes
call themselves rank 0 and never meet, or both read the same samples while others are read by nobody.

Bad:

    sampler = DistributedSampler(data, num_replicas=world_size, rank=local_rank)

Good:

    sampler = DistributedSampler(data, num_replicas=world_size, rank=dist.get_rank())

What it cannot see: programs whose launch files are kept elsewhere; there it is only possible.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.local_ranks import local_rank_origin, names_nodes
from diagnostics.static.executed.splits import parted_on_each_machine, told_rank_of_machine
from diagnostics.static.execution.events import Execution
from diagnostics.static.launch_files.node_counts import NodeCounts
from diagnostics.static.launch_files.rank_environment import environ_key
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import SAMPLER
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A162"
NAME = "local-rank-as-global-rank"
SEVERITY = Severity.ERROR
WORDS = ("DistributedSampler", "init_process_group", "local_rank", "LOCAL_RANK", "world_size", "WORLD_SIZE")
CHECKLIST = "samplers and groups are told the rank among all processes"
_PLACES = {SAMPLER: ("num_replicas", 1, "rank", 2), INIT: ("world_size", 3, "rank", 4)}
_HOME = ("localhost", "127.0.0.1", "[::1]", "::1")
_LOCAL_COUNT = ("local", "device_count", "gpus_per_node", "nproc")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the places where the rank among all processes is asked for and the local one is given."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for sampler, known in parted_on_each_machine(execution):
        yield violation(
            home(sampler, project),
            sampler.node,
            "this sampler parts the data among the processes of one machine only: each machine goes through the same "
            "samples in the same order as the others",
            "num_replicas=dist.get_world_size(), rank=dist.get_rank()",
            steps=(shown(known, project, "the program knows its place among the processes of all machines"),),
            confidence=Confidence.LIKELY,
        )
    for sampler, group in told_rank_of_machine(execution):
        yield violation(
            home(sampler, project),
            sampler.node,
            "this sampler is told the rank on one machine as the rank among all processes: the ranks of the second "
            "machine repeat those of the first",
            "the rank that the process group was told, or dist.get_rank()",
            steps=(shown(group, project, "the rank among all processes is told here"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if file.is_test:
        return  # it spawns its ranks on the machine that runs it
    for call, function in project.calls_in(file):
        place = _PLACES.get(project.name(call.func, function))
        if place is not None:
            count, rank = _given(call, place[0], place[1]), _given(call, place[2], place[3])
            if rank is not None:
                yield from _told(rank, count, last_name(call.func), call, function, file, project)
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Subscript):
            part = node.slice if isinstance(node, ast.Subscript) else None
            if isinstance(part, ast.Slice) and part.lower is not None and part.step is not None:
                yield from _told(part.lower, part.step, "this share", node, function, file, project)


def _told(
    rank: ast.expr, count: ast.expr | None, what: str, at: ast.AST, function: Function, file: ProjectFile,
    project: Project,
) -> Iterator[Violation]:  # fmt: skip
    if count is not None and (_counts_one_machine(count, function) or _of_one_mesh(rank, count)):
        return
    source = local_rank_origin(rank, function, project)
    if source is None or _meets_at_home(at, function):
        return
    nodes = project.fact(NodeCounts)
    product = count is not None and names_nodes(count, function, project)
    several = product or nodes.may_be_several(file.shown) or _reads_global_rank(file, project)
    steps = [step(project.file_with(source[1]), source[0], "the rank on this machine alone")]
    if (launched := nodes.place()) is not None:
        steps.append(step(launched[0], ast.Pass(lineno=launched[1], col_offset=0), "several machines are asked for"))
    yield violation(
        file,
        at,
        f"{what} is told {ast.unparse(rank)[:40]}, the rank on one machine, as the rank among all processes: the ranks "
        "of the second machine repeat those of the first",
        "dist.get_rank(), or node_rank * processes_per_node + local_rank",
        steps=tuple(steps),
        confidence=Confidence.LIKELY if several else Confidence.POSSIBLE,
    )


def _of_one_mesh(rank: ast.expr, count: ast.expr) -> bool:
    """Whether both are asked of one DeviceMesh, whose "local" rank is that in a dimension, of mesh.size()."""
    calls = [one.func for one in (rank, count) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    names = [one.attr for one in calls]
    return names == ["get_local_rank", "size"] and ast.unparse(calls[0].value) == ast.unparse(calls[1].value)


def _counts_one_machine(count: ast.expr, function: Function) -> bool:
    """Whether the number of processes is that of one machine, too, by its words or by those of what it was set to."""
    told = [count, *(function.assigned.get(count.id, ()) if isinstance(count, ast.Name) else ())]
    return any(word in ast.unparse(one).lower() for one in told for word in _LOCAL_COUNT)


def _meets_at_home(call: ast.AST, function: Function) -> bool:
    """Whether it is said there that ranks meet at this machine's own address: no other machine comes there."""
    method = _given(call, "init_method", 1) if isinstance(call, ast.Call) else None
    if isinstance(method, ast.Constant) and re.match(
        rf"tcp://(?:{'|'.join(map(re.escape, _HOME))}):", str(method.value)
    ):
        return True
    return any(
        environ_key(node.targets[0]) == "MASTER_ADDR"
        and isinstance(node.value, ast.Constant)
        and str(node.value.value) in _HOME
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
    )


def _reads_global_rank(file: ProjectFile, project: Project) -> bool:
    """Whether the program knows both ranks, `RANK` and `LOCAL_RANK`: it is written for several machines."""
    around = (project.by_path[one] for one in project.fact(ImportClosures).around(file.shown))
    return any(
        isinstance(node, ast.Constant) and node.value == "RANK"
        for one in around
        if "RANK" in one.text
        for node in (walk(one.tree) if one.tree is not None else ())
    )


def _given(call: ast.Call, name: str, at: int) -> ast.expr | None:
    for one in call.keywords:
        if one.arg == name:
            return one.value
    return call.args[at] if at < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args) else None
