"""Ranks wait for others before there is a process group.

What it does: where a job stood still and ranks stand in init_process_group, in a store of their own, or a launcher
stands in the rendezvous of several nodes, names who has not come: ranks that were never started, that stand at a line
before it, that ended without it, that ask another address, port or file, or that were told another number of ranks;
and the line that sets what is wrong.

Why it matters: init_process_group waits for half an hour, in silence, and then the rank complains that came.

Fix: start as many ranks as the world size says, give all of them one address, and let none wait before it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from diagnostics.analysis.agent_facts import Frame
from diagnostics.analysis.blame import distinct, named, path_evidence, sentence, stood_still
from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.init_guard import guard_of
from diagnostics.analysis.job_answers import shown_ranks
from diagnostics.analysis.launch_line import option
from diagnostics.analysis.launch_nesting import nested_launch
from diagnostics.analysis.launch_scripts import launch_lines, lines_with, setting
from diagnostics.analysis.rendezvous_wait import (
    BEGUN,
    Rendezvous,
    apart,
    asked,
    rendezvous,
    with_other_size,
    with_same_rank,
)
from diagnostics.analysis.shutdown_wait import still_there
from diagnostics.analysis.user_code import user_frames
from diagnostics.findings import Confidence, Evidence, Fix
from diagnostics.matches import Examines, JobOutcome, Match
from diagnostics.signatures.blamed import blamed

CODE = "D345"
NAME = "rendezvous-waits"
CLASS = "rendezvous-hang"
EXAMINES = Examines.ANY

_SIZES = ("WORLD_SIZE", "world_size", "nnodes", "num_machines", "nproc_per_node", "num_processes", "ntasks", "nprocs")
_NODES = ("nnodes", "num_machines", "NNODES", "NODES", "num_nodes")
_SPAWNS = re.compile(r"\bspawn\(|\bstart_processes\(|\bProcess\(")
_PLACES = ("MASTER_PORT", "MASTER_ADDR", "master_port", "master_addr", "init_method", "rdzv_endpoint")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    stories: tuple[ProcessStory, ...]
    ranks: tuple[int, ...]
    title: str
    locations: tuple[str, ...]
    fix: str
    sure: bool = True
    commands: tuple[str, ...] = ()


def match(case: Case) -> Match | None:
    """Returns who has not come and why, None where nobody waits for the beginning."""
    if not stood_still(case) or nested_launch(case) is not None:
        return None
    state = rendezvous(case)
    if state is None or any(one.failed and not still_there(one) for one in (*state.ended, *state.through)):
        return None
    waiting = state.came or state.launchers
    reason = next(filter(None, (find(case, state) for find in _REASONS)), None) or _unknown(case, state)
    given = [f"{named([one])} asks {asked(one).endpoint or 'an unknown place'} for {asked(one).world or '?'} ranks"
             for one in state.came]  # fmt: skip
    found = blamed(
        case,
        reason.stories,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=reason.title,
        evidence=(
            *(one for story in waiting[:2] for one in _stack(case, story)),
            *(one for story in state.before[:2] for one in _stack(case, story)),
            *([Evidence(source="calls of init_process_group", observed="; ".join(given))] if given else ()),
            Evidence(
                source="processes of the job",
                observed=f"{named(case.ranks) if case.ranks else 'no rank'} started",
                expected=f"{state.world} ranks" if state.world is not None else "every node and rank of the job",
            ),
        ),
        fix=Fix(text=reason.fix, commands=reason.commands),
        locations=distinct([*reason.locations, *_calls(case, waiting), *launch_lines(case)]),
        confidence=Confidence.CONFIRMED if reason.sure else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[one.pid for one in waiting],
        began_s=min((_came_s(case, one) for one in waiting), default=None),
    )
    return dataclasses.replace(
        found,
        culprit_ranks=tuple(sorted(set(reason.ranks))),
        victim_ranks=tuple(sorted({one.rank for one in waiting if one.rank is not None} - set(reason.ranks))),
    )


def _other_place(case: Case, state: Rendezvous) -> _Reason | None:
    away = apart(case, [*state.came, *state.through])
    if not away:
        return None
    there = asked(away[0])
    rest = [one for one in (*state.came, *state.through) if one not in away]
    wanted = asked(rest[0]) if rest else there
    value = there.port if there.port != wanted.port else there.address if there.address != wanted.address else ""
    literal = setting(case, _PLACES, value) if value else setting(case, ("init_method",))
    return _Reason(
        stories=away,
        ranks=_ranks(away),
        title=f"{sentence(named(away))} waited at {there.endpoint}, and {named(rest)} at {wanted.endpoint}",
        locations=distinct([*literal, *_calls(case, away)]),
        fix=f"give every rank the same address and port; {named(rest[:1])} has {wanted.endpoint}",
    )


def _other_size(case: Case, state: Rendezvous) -> _Reason | None:
    wrong = with_other_size(case, [*state.came, *state.through])
    if not wrong:
        return None
    told = asked(wrong[0]).world
    rest = [one for one in (*state.came, *state.through) if one not in wrong]
    return _Reason(
        stories=wrong,
        ranks=_ranks(wrong),
        title=f"{sentence(named(wrong))} waited for {told} ranks, and {named(rest)} for {asked(rest[0]).world}",
        locations=distinct([*setting(case, _SIZES, str(told)), *_calls(case, wrong)]),
        fix=f"give every rank the same world size; {len(case.ranks)} were started",
    )


def _same_rank(case: Case, state: Rendezvous) -> _Reason | None:
    same = with_same_rank([one for one in case.processes if one in state.came or _began_as_rank(one)])
    if not same or not state.never:
        return None
    rank = asked(same[0]).rank
    return _Reason(
        stories=same,
        ranks=(*_ranks(same), *state.never),
        title=f"{len(same)} processes came as rank {rank}, and {shown_ranks(state.never)} never came",
        locations=distinct([*setting(case, ("RANK", "rank", "node_rank"), str(rank)), *_calls(case, same)]),
        fix="give each process a rank of its own",
    )


def _never_started(case: Case, state: Rendezvous) -> _Reason | None:
    if not state.never or state.world is None:
        return None
    size = str(state.world)
    set_at = setting(case, _SIZES, size)
    spawned = [line.location for line in lines_with(case, _SPAWNS, "python")]
    return _Reason(
        stories=state.came,
        ranks=state.never,
        title=f"{sentence(named(state.came))} waited for {size} ranks, but {len(case.ranks)} were started: "
        f"{shown_ranks(state.never)} never came",
        locations=distinct([*set_at, *spawned]),
        fix=f"start {size} ranks, or set the world size to the {len(case.ranks)} that are started",
    )


def _ended_without(case: Case, state: Rendezvous) -> _Reason | None:
    if not state.ended:
        return None
    left = [event for one in state.ended if one.agent is not None
            if (event := one.agent.last_event("sys.exit", "os._exit")) is not None]  # fmt: skip
    exits = [case.line(frame) for event in left for frame in user_frames(event.path)[:1]]
    guards = [line for one in state.came for line in guard_of(case, _path(one))]
    return _Reason(
        stories=state.ended,
        ranks=_ranks(state.ended),
        title=f"{sentence(named(state.ended))} ended without init_process_group, in which {named(state.came)} waited",
        locations=distinct([*guards, *exits]),
        fix="let every rank come to init_process_group, or start only those that do",
    )


def _stands_before(case: Case, state: Rendezvous) -> _Reason | None:
    if not state.before:
        return None
    lines = distinct([case.line(frame) for one in state.before for frame in _stands(one)[:1]])
    at = f" at {', '.join(lines)}" if lines else ""
    return _Reason(
        stories=state.before,
        ranks=_ranks(state.before),
        title=f"{sentence(named(state.before))} stood{at} and never came to init_process_group, in which "
        f"{named(state.came)} waited",
        locations=distinct([case.line(frame) for one in state.before for frame in _stands(one)[:2]]),
        fix=f"look at what {lines[0] if lines else 'it'} waits for; let no rank wait or work long before "
        "init_process_group",
        sure=False,
    )


def _other_nodes(case: Case, state: Rendezvous) -> _Reason | None:
    if not state.launchers:
        return None
    first = state.launchers[0]
    nodes = option(first.argv, "--nnodes", "--num-machines") or ""
    own = len({option(one.argv, "--node-rank") or one.pid for one in state.launchers})
    size = option(first.argv, "--nproc-per-node", "--num-processes") or ""
    endpoint = option(first.argv, "--rdzv-endpoint", "--master-addr") or ""
    return _Reason(
        stories=state.launchers,
        ranks=_of_other_nodes(state.launchers, nodes, size),
        title=f"The launcher waited for {nodes or 'other'} nodes, and {own} came: it was started {own} time"
        f"{'s' if own != 1 else ''}, and no rank was started",
        locations=distinct([*setting(case, _NODES, nodes), *launch_lines(case)]),
        fix=f"start the same command on every node, with the same endpoint{' ' + endpoint if endpoint else ''}; or "
        "--nnodes 1 where this is the only one",
        commands=("torchrun --nnodes N --node-rank I --rdzv-endpoint HOST:PORT ...",),
    )


def _unknown(case: Case, state: Rendezvous) -> _Reason:
    """All came, and still none went on: a key that nobody sets, or a file that an earlier run left."""
    file = next((asked(one).endpoint for one in state.came if asked(one).endpoint.startswith("file:")), "")
    where = distinct([case.line(frame) for one in state.came for frame in _path(one)[:1]])
    why = f"; {file} may hold what an earlier run wrote" if file else ""
    return _Reason(
        stories=state.came,
        ranks=(),
        title=f"{sentence(named(state.came or state.launchers))} waited at {', '.join(where) or 'its rendezvous'} "
        f"before there was a process group, and nobody else was there to answer{why}",
        locations=where,
        fix=f"remove {file.removeprefix('file://')} before each run" if file else "see which rank sets what it waits "
        "for, and that the store's number of clients is that of the ranks",
        sure=False,
    )  # fmt: skip


_REASONS = (_other_place, _other_size, _same_rank, _never_started, _ended_without, _stands_before, _other_nodes)


def _of_other_nodes(launchers: Sequence[ProcessStory], nodes: str, size: str) -> tuple[int, ...]:
    """Returns the ranks of the nodes that did not come, where the nodes are numbered by hand."""
    numbers = {option(one.argv, "--node-rank", "--machine-rank") or "" for one in launchers}
    if not nodes.isdigit() or not size.isdigit() or not all(one.isdigit() for one in numbers):
        return ()
    if any(option(one.argv, "--rdzv-backend") not in (None, "static") for one in launchers):
        return ()
    each, came = int(size), {int(one) for one in numbers}
    missing = [node for node in range(min(int(nodes), 4096)) if node not in came]
    return tuple(rank for node in missing for rank in range(node * each, (node + 1) * each))[:4096]


def _began_as_rank(story: ProcessStory) -> bool:
    return story.agent is not None and story.agent.last_event(BEGUN) is not None


def _ranks(stories: Sequence[ProcessStory]) -> tuple[int, ...]:
    return tuple(one.rank for one in stories if one.rank is not None)


def _path(story: ProcessStory) -> tuple[Frame, ...]:
    """Returns the user's lines that lead to its rendezvous, innermost first."""
    event = story.agent.last_event(BEGUN) if story.agent is not None else None
    folder = story.agent.agent_folder if story.agent is not None else ""
    return user_frames(event.path, agent_folder=folder) if event is not None else _stands(story)


def _calls(case: Case, stories: Sequence[ProcessStory]) -> list[str]:
    return [case.line(frame) for one in stories if one.rank is not None for frame in _path(one)[:1]]


def _stands(story: ProcessStory) -> tuple[Frame, ...]:
    folder = story.agent.agent_folder if story.agent is not None else ""
    found = user_frames(story.stacks[0], agent_folder=folder) if story.stacks else ()
    return tuple(frame for frame in found if not frame.file.startswith("<"))


def _stack(case: Case, story: ProcessStory) -> tuple[Evidence, ...]:
    return path_evidence(case, f"stack of {named([story])}", story.stacks[0]) if story.stacks else ()


def _came_s(case: Case, story: ProcessStory) -> float:
    event = story.agent.last_event(BEGUN) if story.agent is not None else None
    if event is None or story.agent is None:
        return story.began_s
    return (story.agent.started_ns - case.job.started_ns) / 1e9 + event.seconds
