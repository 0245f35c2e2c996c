"""Where ranks of a deadlock last agreed, what each did next, and which of them went another way. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.analysis.agent_facts import CollectiveCall, Frame
from diagnostics.analysis.call_habits import Break, broken, in_another_group
from diagnostics.analysis.call_kinds import NEW_GROUP, disagreement, is_collective
from diagnostics.analysis.case import Case, How
from diagnostics.analysis.decisions import Parting, Place, Way
from diagnostics.analysis.group_counts import GroupCounts
from diagnostics.analysis.positions import Position, Stand, Wait, Waiting
from diagnostics.analysis.process_tree import at_s as job_time
from diagnostics.analysis.site_relation import Relation, relation
from diagnostics.analysis.user_code import user_frames
from diagnostics.analysis.wait_graph import Deadlock, Knot

_SEEN = (How.CAUGHT, How.LOGGED, How.PRINTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Two camps of ranks of one deadlock. `sure` where evidence tells that those of `parting.here` are the odd ones."""

    parting: Parting
    relation: Relation
    here: tuple[Position, ...]
    there: tuple[Position, ...]
    sure: bool


def splits(case: Case, deadlock: Deadlock) -> tuple[Split, ...]:
    """Returns each odd camp of a deadlock against the largest other one; () where all stand in one place alike."""
    made = _made_apart(case, deadlock) or _unlike_before(case, deadlock) or _other_group(case, deadlock)
    if made is not None:
        return (made,)
    camps = _camps(case, deadlock)
    if len(camps) < 2:
        return ()
    scored = sorted(camps, key=lambda camp: -_oddness(case, camp, camps, deadlock))
    usual = scored[-1]
    marks = [_oddness(case, camp, camps, deadlock) for camp in scored]
    return tuple(
        _split(case, camp, usual, sure=mark > marks[-1])
        for camp, mark in zip(scored[:-1], marks[:-1], strict=True)
        if mark > marks[-1] or len(camps) == 2 or mark == marks[0]
    )


def _made_apart(case: Case, deadlock: Deadlock) -> Split | None:
    """Returns who makes one group where others make another: ranks that left one out are behind from there on."""
    slots = [one.waits[0].slot for one in deadlock.positions if one.waits[0].group == NEW_GROUP]
    first = min((slot for slot in slots if slot is not None), default=None)
    if first is None:
        return None
    calls = [(one, _call_at(one, first)) for one in deadlock.positions]
    making = [(one, call) for one, call in calls if call is not None and call.op == NEW_GROUP]
    behind = next((call for one, call in making if one.waits[0] is call), None)
    here = tuple(one for one, call in making if behind is not None and call.shape == behind.shape)
    ahead = [(one, call) for one, call in making if behind is not None and call.shape != behind.shape]
    if behind is None or not ahead:
        return None
    there = tuple(one for one, _ in ahead)
    agreed, _ = _agreed(case, here[0], there[0]) if first else (_same_event(case, here[0], there[0]), 0.0)
    parting = Parting(
        agreed=agreed,
        here=tuple(one.rank for one in here),
        here_at=Place(way=Way.CALL, op=NEW_GROUP, path=behind.path),
        there=tuple(one.rank for one in there),
        there_at=Place(way=Way.CALL, op=NEW_GROUP, path=ahead[0][1].path),
    )
    return Split(parting=parting, relation=Relation.APART, here=here, there=there, sure=True)


def _unlike_before(case: Case, deadlock: Deadlock) -> Split | None:
    """Returns which ranks, of those that send and receive, left out what they did in every round before."""
    if not any(one.wait is not None and one.wait.kind in (Waiting.SEND, Waiting.RECV) for one in deadlock.positions):
        return None
    breaks = {one.rank: _break(case, one) for one in deadlock.positions}
    here = tuple(one for one in deadlock.positions if breaks[one.rank] is not None)
    there = tuple(one for one in deadlock.positions if breaks[one.rank] is None)
    first = breaks[here[0].rank] if here else None
    if first is None or not there:
        return None
    parting = Parting(
        agreed=Place(way=Way.CALL, op=first.before.op, path=first.before.path),
        here=tuple(one.rank for one in here),
        here_at=Place(way=Way.CALL, op=first.now.op, path=first.now.path),
        there=tuple(one.rank for one in there),
        there_at=Place(way=Way.CALL, op=first.usual.op, path=first.usual.path),
        caught=_caught(case, here[0], here[0].at_s),
    )
    return Split(parting=parting, relation=Relation.APART, here=here, there=there, sure=True)


def _break(case: Case, one: Position) -> Break | None:
    counts = _counts(case, one)
    found = broken(counts.calls) if counts is not None and len(one.waits) == 1 else None
    return found if found is not None and one.wait is not None and found.now.path == one.wait.path else None


def _other_group(case: Case, deadlock: Deadlock) -> Split | None:
    """Returns which ranks called in another group than ever before at a place where others kept to theirs."""
    if not any(_uses_groups(case, one) for one in deadlock.positions):
        return None
    asked = set()
    for first in deadlock.positions:
        wait = first.wait
        if wait is None or wait.kind is not Waiting.COLLECTIVE or wait.native or wait.op == NEW_GROUP:
            continue
        if (wait.path, wait.op, wait.group) in asked or in_another_group(_calls_at(case, first, wait)):
            continue
        asked.add((wait.path, wait.op, wait.group))  # of thousands of ranks, few wait in different places
        calls = {one.rank: _calls_at(case, one, wait) for one in deadlock.positions if one is not first}
        here = tuple(one for one in deadlock.positions if one is not first and in_another_group(calls[one.rank]))
        odd = tuple(one for one in here if calls[one.rank][-1].group != wait.group)
        if odd:
            others = {rank: made[-1].group for rank, made in calls.items() if made}
            there = (first, *(one for one in deadlock.positions if others.get(one.rank) == wait.group))
            place = Place(way=Way.CALL, op=wait.op, path=wait.path)
            parting = Parting(
                agreed=None,
                here=tuple(one.rank for one in odd),
                here_at=place,
                there=tuple(one.rank for one in there),
                there_at=place,
            )
            return Split(parting=parting, relation=Relation.SAME, here=odd, there=there, sure=True)
    return None


def _uses_groups(case: Case, one: Position) -> bool:
    """Whether the rank has made calls in more than one group."""
    story = case.of_rank(one.rank)
    return story is not None and story.agent is not None and len(story.agent.groups) > 1


def _calls_at(case: Case, one: Position, wait: Wait) -> tuple[CollectiveCall, ...]:
    """Returns a rank's calls from the place of a wait, oldest first."""
    counts = _counts(case, one)
    return tuple(call for call in counts.calls if call.op == wait.op and call.path == wait.path) if counts else ()


def _call_at(one: Position, slot: int) -> Wait | None:
    wait = one.waits[0]
    return wait if (wait.group, wait.slot) == (NEW_GROUP, slot) else one.passed.get((NEW_GROUP, slot))


def site(case: Case, one: Position) -> tuple[Frame, ...]:
    """Returns the job's own frames at which a rank stands, innermost first."""
    wait = one.wait
    frames = wait.path if wait is not None and wait.path else one.stack
    story = case.of_rank(one.rank)
    if one.stand in (Stand.LEAVING, Stand.ENDED) or (not frames and story is not None):
        left = story.agent.last_event("sys.exit", "os._exit") if story is not None and story.agent is not None else None
        frames = left.path if left is not None else frames
    folder = story.agent.agent_folder if story is not None and story.agent is not None else ""
    return tuple(frame for frame in user_frames(frames, agent_folder=folder) if not frame.file.startswith("<"))


def _camps(case: Case, deadlock: Deadlock) -> list[list[Position]]:
    camps: dict[object, list[Position]] = defaultdict(list)
    for one in (*deadlock.positions, *deadlock.gone):
        camps[_key(case, one)].append(one)
    if len(camps) == 1 and deadlock.knot is not Knot.GONE:
        return []
    return list(camps.values())


def _key(case: Case, one: Position) -> object:
    wait = one.wait
    if wait is None or wait.kind is Waiting.DESTROY:
        return one.stand, wait is not None
    lines = tuple((frame.file, frame.line) for frame in site(case, one))
    if wait.native:
        return "native", wait.group, wait.slot
    if wait.kind is not Waiting.COLLECTIVE:
        return wait.op, lines
    return wait.op, wait.group, wait.slot, wait.shape, wait.dtype, wait.root, lines


def _oddness(case: Case, camp: Sequence[Position], camps: Sequence[Sequence[Position]], deadlock: Deadlock) -> float:
    """Returns how much tells that these ranks went another way than the rest."""
    first = camp[0]
    rest = [other for other in camps if other is not camp]
    ranks = sum(map(len, camps))
    mark = 0.0
    if first.stand in (Stand.LEAVING, Stand.ENDED) or (first.wait is not None and first.wait.kind is Waiting.DESTROY):
        mark += 6
    if deadlock.knot is Knot.NEW_GROUP:
        mark += 4 * all(first.reached.get(NEW_GROUP, 0) < o[0].reached.get(NEW_GROUP, 0) for o in rest)
    for other in rest:
        found = relation(case.sources, site(case, first), site(case, other[0]))
        mark += {Relation.ONE_INSIDE: 3, Relation.ONE_LEFT_LOOP: 2}.get(found, 0) / len(rest)
    mark += 1.5 * (not is_usual(case, first) and any(is_usual(case, other[0]) for other in rest))
    mark += 2 * any(_caught(case, one, first.at_s) for one in camp)
    mark += max(0.0, 1 - len(camp) * len(camps) / ranks)  # fewer than others, which two ranks never are
    mark += 5 * (2 * len(camp) < ranks and any(2 * len(other) > ranks for other in rest))  # what most did is usual
    steps = [_steps(case, other[0]) for other in rest]
    mark += 0.5 * (_steps(case, first) < min(steps, default=0))
    return mark


def _steps(case: Case, one: Position) -> int:
    story = case.of_rank(one.rank)
    return story.steps if story is not None else 0


def is_usual(case: Case, one: Position) -> bool:
    """Whether the rank has been where it waits before: in a loop that all ranks went through."""
    wait, story = one.wait, case.of_rank(one.rank)
    if wait is None or story is None or story.agent is None:
        return False
    if wait.native:
        return story.agent.steps.backwards > 1
    return any(
        call.path == wait.path and call.left_s is not None and not call.failed for call in story.agent.collectives[:-1]
    )


def _split(case: Case, odd: Sequence[Position], usual: Sequence[Position], *, sure: bool) -> Split:
    here, there = odd[0], usual[0]
    agreed, at_s = _agreed(case, here, there)
    parting = Parting(
        agreed=agreed,
        here=tuple(one.rank for one in odd),
        here_at=_place(case, here),
        there=tuple(one.rank for one in usual),
        there_at=_place(case, there),
        caught=_caught(case, here, here.at_s, at_s),
    )
    found = relation(case.sources, site(case, here), site(case, there))
    return Split(parting=parting, relation=found, here=tuple(odd), there=tuple(usual), sure=sure)


def _place(case: Case, one: Position) -> Place:
    if one.wait is None or one.wait.kind is Waiting.DESTROY:
        way = Way.ENDED if one.wait is None else Way.CALL
        return Place(way=way, op=one.wait.op if one.wait is not None else "", path=site(case, one))
    native = one.wait.native
    return Place(way=Way.CALL, op="backward" if native else one.wait.op, path=one.wait.path or one.stack)


def _caught(case: Case, one: Position, until_s: float, since_s: float = 0.0) -> tuple[tuple[Frame, ...], ...]:
    story = case.of_rank(one.rank)
    raised = story.raised if story is not None else ()
    return tuple(each.path for each in raised if each.how in _SEEN and since_s <= each.at_s <= until_s and each.path)


def _agreed(case: Case, one: Position, other: Position) -> tuple[Place | None, float]:
    """Returns the last call that two ranks made alike and when; None and 0 where they made none."""
    mine, theirs = _counts(case, one), _counts(case, other)
    if mine is None or theirs is None:
        return None, 0.0
    pair = _last_alike(mine, theirs, one, other)
    waits = [wait for wait in (one.wait, other.wait) if wait is not None and wait.native]
    passes = min(_backwards(case, one), _backwards(case, other) + 1)
    if waits and passes >= 2 and _after(pair, waits[0]):
        return Place(way=Way.CALL, op="backward", path=waits[0].path), 0.0
    if pair is None:
        return _same_event(case, one, other), 0.0
    story = case.of_rank(one.rank)
    offset = job_time(case.job, story.agent) if story is not None and story.agent is not None else 0.0
    return Place(way=Way.CALL, op=pair.op, path=pair.path), offset + (pair.left_s or pair.entered_s)


def _after(pair: CollectiveCall | None, wait: Wait) -> bool:
    """Whether C++ made collectives between that call and the one it waits in."""
    return pair is None or pair.group != wait.group or wait.slot is None or pair.number + 1 < wait.slot


def _last_alike(mine: GroupCounts, theirs: GroupCounts, one: Position, other: Position) -> CollectiveCall | None:
    in_it = {(wait.group, wait.slot) for each in (one, other) for wait in each.waits}
    for call in reversed(mine.calls):
        if call.number < 0 or not is_collective(call.op) or call.op == NEW_GROUP:
            continue
        partner = theirs.call(call.group, call.number)
        if partner is None or (call.group, call.number) in in_it or call.left_s is None or partner.left_s is None:
            continue
        told = [(each.op, each.shape, each.dtype, each.root) for each in (call, partner)]
        if not disagreement(*told):
            return call
    return None


def _counts(case: Case, one: Position) -> GroupCounts | None:
    story = case.of_rank(one.rank)
    if story is None or story.agent is None:
        return None
    return GroupCounts(story.agent, story.flight, story.threads, one.at_s - job_time(case.job, story.agent))


def _backwards(case: Case, one: Position) -> int:
    story = case.of_rank(one.rank)
    return story.agent.steps.backwards if story is not None and story.agent is not None else 0


def _same_event(case: Case, one: Position, other: Position) -> Place | None:
    """Returns where both wrapped their model, or made their group."""
    agents = [story.agent for each in (one, other) if (story := case.of_rank(each.rank)) is not None]
    for kind, op in (("ddp", "DistributedDataParallel"), ("process-group", "init_process_group")):
        events = [agent.last_event(kind) for agent in agents if agent is not None]
        if len(events) == 2 and all(event is not None and event.path for event in events) and events[0] is not None:
            return Place(way=Way.CALL, op=op, path=events[0].path)
    return None
