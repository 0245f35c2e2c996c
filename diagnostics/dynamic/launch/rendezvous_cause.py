"""Why a rendezvous is not complete: the first known reason that fits, and the line that sets what is wrong. Pure.

The condition around a call: which `if` decides that a rank makes it. Pure; a file without a tree answers nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import event_s, events_of, main_stack, own_lines, user_frames_of
from diagnostics.dynamic.launch.computed_values import computed_at
from diagnostics.dynamic.launch.launch_settings import launch_lines, lines_setting, lines_with
from diagnostics.dynamic.launch.rendezvous_state import (
    BEGUN,
    RendezvousState,
    apart,
    asked,
    with_other_size,
    with_same_rank,
)
from diagnostics.static.launch_files.launch_line import option
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans

_SIZES = ("WORLD_SIZE", "world_size", "nnodes", "num_machines", "nproc_per_node", "num_processes", "ntasks", "nprocs")
_NODES = ("nnodes", "num_machines", "NNODES", "NODES", "num_nodes")
_SPAWNS = re.compile(r"\bspawn\(|\bstart_processes\(|\bProcess\(")
_FILES = re.compile(r"file://")
_PORTS = ("MASTER_PORT", "master_port", "init_method", "rdzv_endpoint")
_HOSTS = ("MASTER_ADDR", "master_addr", "init_method", "rdzv_endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """Why nobody goes on. `ranks` did not come as they should have; `locations` are best first."""

    processes: tuple[JobProcess, ...]
    ranks: tuple[int, ...]
    title: str
    locations: tuple[str, ...]
    fix: str
    sure: bool = True
    commands: tuple[str, ...] = ()


def rendezvous_cause(job: Job, state: RendezvousState) -> Incomplete:
    """Returns the reason that fits best; where all have come, that nobody answers what they wait for."""
    return known_reason(job, state) or _unknown(job, state)


def known_reason(job: Job, state: RendezvousState) -> Incomplete | None:
    """Returns the reason that fits best, None where all have come."""
    return next(filter(None, (find(job, state) for find in _REASONS)), None)


def calls(job: Job, processes: Sequence[JobProcess]) -> list[str]:
    """Returns the lines at which these ranks come to the rendezvous."""
    return [job.line(frame) for one in processes if one.rank is not None for frame in _path(one)[:1]]


def came_s(job: Job, process: JobProcess) -> float:
    """Returns when it came, in seconds since the job started; its own start where that is not known."""
    begun = events_of(process, BEGUN)
    return event_s(job, process, begun[-1].seconds) if begun else process.began_s


def _other_place(job: Job, state: RendezvousState) -> Incomplete | None:
    away = apart(job, [*state.came, *state.through])
    if not away:
        return None
    there = asked(away[0])
    rest = [one for one in (*state.came, *state.through) if one not in away]
    wanted = asked(rest[0]) if rest else there
    value = there.port if there.port != wanted.port else there.address if there.address != wanted.address else ""
    files = [line.location for line in lines_with(job, _FILES)] if there.method.startswith("file:") else []
    literal = (
        lines_setting(job, _PORTS if there.port != wanted.port else _HOSTS, value)
        if value
        else (*files, *lines_setting(job, ("init_method",)))
    )
    return Incomplete(
        processes=away,
        ranks=_ranks(away),
        title=f"{sentence(names_of(away))} waited at {there.endpoint}, and {names_of(rest)} at {wanted.endpoint}",
        locations=distinct([*literal, *calls(job, away)]),
        fix=f"give every rank the same address and port; {names_of(rest[:1])} has {wanted.endpoint}",
    )


def _other_size(job: Job, state: RendezvousState) -> Incomplete | None:
    wrong = with_other_size(job, [*state.came, *state.through])
    if not wrong:
        return None
    told = asked(wrong[0]).world
    set_at = lines_setting(job, _SIZES, str(told))
    rest = [one for one in (*state.came, *state.through) if one not in wrong]
    return Incomplete(
        processes=wrong,
        ranks=_ranks(wrong),
        title=f"{sentence(names_of(wrong))} waited for {told} ranks, and {names_of(rest)} for {asked(rest[0]).world}",
        locations=distinct([*computed_at(job, set_at, _SIZES), *set_at, *calls(job, wrong)]),
        fix=f"give every rank the same world size; {len(job.ranks)} were started",
    )


def _same_rank(job: Job, state: RendezvousState) -> Incomplete | None:
    same = with_same_rank([one for one in job.processes if one in state.came or events_of(one, BEGUN)])
    if not same or not state.never:
        return None
    rank = asked(same[0]).rank
    return Incomplete(
        processes=same,
        ranks=state.never,
        title=f"{len(same)} processes came as rank {rank}, and {shown_ranks(state.never)} never came",
        locations=distinct([*lines_setting(job, ("RANK", "rank", "node_rank"), str(rank)), *calls(job, same)]),
        fix="give each process a rank of its own",
    )


def _never_started(job: Job, state: RendezvousState) -> Incomplete | None:
    if not state.never or state.world is None:
        return None
    size = str(state.world)
    set_at = lines_setting(job, _SIZES, size)
    spawned = [line.location for line in lines_with(job, _SPAWNS, "python")]
    return Incomplete(
        processes=state.came,
        ranks=state.never,
        title=f"{sentence(names_of(state.came))} waited for {size} ranks, but {len(job.ranks)} were started: "
        f"{shown_ranks(state.never)} never came",
        locations=distinct([*computed_at(job, set_at, _SIZES), *set_at, *spawned]),
        fix=f"start {size} ranks, or set the world size to the {len(job.ranks)} that are started",
    )


def _ended_without(job: Job, state: RendezvousState) -> Incomplete | None:
    if not state.ended:
        return None
    exits = [
        line
        for one in state.ended
        for event in events_of(one, "sys.exit", "os._exit")[-1:]
        for line in own_lines(job, one, event.path)[:1]
    ]
    left = [line for one in state.came for line in leavings_before(job, _path(one))]
    guards = [line for one in state.came for line in guarding_condition(job, _path(one))]
    return Incomplete(
        processes=state.ended,
        ranks=_ranks(state.ended),
        title=f"{sentence(names_of(state.ended))} ended without init_process_group, "
        f"in which {names_of(state.came)} waited",
        locations=distinct([*exits, *guards, *left]),
        fix="let every rank come to init_process_group, or start only those that do",
    )


def _stands_before(job: Job, state: RendezvousState) -> Incomplete | None:
    if not state.before:
        return None
    lines = distinct([line for one in state.before for line in own_lines(job, one, main_stack(one))[:1]])
    at = f" at {', '.join(lines)}" if lines else ""
    return Incomplete(
        processes=state.before,
        ranks=_ranks(state.before),
        title=f"{sentence(names_of(state.before))} stood{at} and never came to init_process_group, in which "
        f"{names_of(state.came)} waited",
        locations=distinct([line for one in state.before for line in own_lines(job, one, main_stack(one))[:2]]),
        fix=f"look at what {lines[0] if lines else 'it'} waits for; let no rank wait or work long before "
        "init_process_group",
        sure=False,
    )


def _other_nodes(job: Job, state: RendezvousState) -> Incomplete | None:
    if not state.launchers:
        return None
    first = state.launchers[0]
    nodes = option(first.argv, "--nnodes", "--num-machines") or ""
    own = len({option(one.argv, "--node-rank") or one.pid for one in state.launchers})
    size = option(first.argv, "--nproc-per-node", "--num-processes") or ""
    endpoint = option(first.argv, "--rdzv-endpoint", "--master-addr") or ""
    return Incomplete(
        processes=state.launchers,
        ranks=_of_other_nodes(state.launchers, nodes, size),
        title=f"The launcher waited for {nodes or 'other'} nodes, and {own} came: it was started {own} time"
        f"{'s' if own != 1 else ''}, and no rank was started",
        locations=distinct([*lines_setting(job, _NODES, nodes), *launch_lines(job)]),
        fix=f"start the same command on every node, with the same endpoint{' ' + endpoint if endpoint else ''}; or "
        "--nnodes 1 where this is the only one",
        commands=("torchrun --nnodes N --node-rank I --rdzv-endpoint HOST:PORT ...",),
    )


def _unknown(job: Job, state: RendezvousState) -> Incomplete:
    """All came, and still none went on: a key that nobody sets, or a file that an earlier run left."""
    file = next((asked(one).endpoint for one in state.came if asked(one).endpoint.startswith("file:")), "")
    where = distinct([job.line(frame) for one in state.came for frame in _path(one)[:1]])
    why = f"; {file} may hold what an earlier run wrote" if file else ""
    return Incomplete(
        processes=state.came,
        ranks=(),
        title=f"{sentence(names_of(state.came or state.launchers))} waited at {', '.join(where) or 'its rendezvous'} "
        f"before there was a process group, and nobody else was there to answer{why}",
        locations=where,
        fix=f"remove {file.removeprefix('file://')} before each run" if file else "see which rank sets what it waits "
        "for, and that the store's number of clients is that of the ranks",
        sure=False,
    )  # fmt: skip


_REASONS: tuple[Callable[[Job, RendezvousState], Incomplete | None], ...] = (
    _other_place,
    _other_size,
    _same_rank,
    _never_started,
    _ended_without,
    _stands_before,
    _other_nodes,
)


def _of_other_nodes(launchers: Sequence[JobProcess], nodes: str, size: str) -> tuple[int, ...]:
    """Returns the ranks of the nodes that did not come, where the nodes are numbered by hand."""
    numbers = {option(one.argv, "--node-rank", "--machine-rank") or "" for one in launchers}
    if not nodes.isdigit() or not size.isdigit() or not all(one.isdigit() for one in numbers):
        return ()
    if any(option(one.argv, "--rdzv-backend") not in (None, "static") for one in launchers):
        return ()
    each, came = int(size), {int(one) for one in numbers}
    missing = [node for node in range(min(int(nodes), 4096)) if node not in came]
    return tuple(rank for node in missing for rank in range(node * each, (node + 1) * each))[:4096]


def _ranks(processes: Sequence[JobProcess]) -> tuple[int, ...]:
    return tuple(one.rank for one in processes if one.rank is not None)


def _path(process: JobProcess) -> tuple[Frame, ...]:
    """Returns the user's lines that lead to its rendezvous, innermost first."""
    begun = events_of(process, BEGUN)
    return user_frames_of(process, begun[-1].path if begun else main_stack(process))


def guarding_condition(job: Job, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the lines of the conditions that enclose a call path, innermost first."""
    found = []
    for frame in path:
        source = job.sources.file(frame.file)
        root: ast.AST | None = source.function_at(frame.line) or source.tree
        nodes = [node for node in walk(root) if isinstance(node, ast.If | ast.IfExp)] if root is not None else []
        around = [node for node in nodes if _inside(node, frame.line) and not _is_main(node)]
        lines = sorted({node.lineno for node in around}, reverse=True)
        found += [job.line(Frame(file=frame.file, line=line, function="")) for line in lines]
    return tuple(found)


def leavings_before(job: Job, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the conditions, and the returns in them, by which a function is left before the call, nearest first."""
    found = []
    for frame in path:
        root = job.sources.file(frame.file).function_at(frame.line)
        ifs = [node for node in walk(root) if isinstance(node, ast.If)] if root is not None else []
        before = sorted((node for node in ifs if (node.end_lineno or 0) < frame.line), key=lambda node: -node.lineno)
        for node in before:
            returns = [one.lineno for one in node.body if isinstance(one, ast.Return)]
            lines = [node.lineno, *returns] if returns else []
            found += [job.line(Frame(file=frame.file, line=line, function="")) for line in lines]
    return tuple(found)


def _inside(node: ast.If | ast.IfExp, line: int) -> bool:
    branches = [*node.body, *node.orelse] if isinstance(node, ast.If) else [node.body, node.orelse]
    return any(spans(one, line) for one in branches)


def _is_main(node: ast.If | ast.IfExp) -> bool:
    return "__name__" in ast.unparse(node.test)
