"""Builds the Match of a proved deadlock: who waits for what, the slot, where the ways parted, and the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.wording import sentence, shown_ranks
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.collectives.hang_time import ended_by_itself, ended_by_own_timeout
from diagnostics.dynamic.collectives.rank_state import RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import CollectiveMismatch
from diagnostics.dynamic.divergence.deadlock_diagnosis import DeadlockDiagnosis, deadlock_story
from diagnostics.dynamic.divergence.divergence import DivergencePoint
from diagnostics.dynamic.divergence.held_exceptions import held_text
from diagnostics.dynamic.divergence.rank_partition import site
from diagnostics.dynamic.divergence.split import Split
from diagnostics.dynamic.divergence.thread_order import waits_of_threads
from diagnostics.dynamic.job.evidence import named, path_evidence, source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import EXCEPTION, RANK

MOST_SHOWN = 4
_LEFT = {
    Whereabouts.LEAVING: "is through with its program and only waits for its threads",
    Whereabouts.ENDED: "has ended",
}

_OF_THREADS = Fix(
    text="give the thread a process group of its own (dist.new_group), or wait for it before the next collective of "
    "its group: which thread comes first is left to chance on each rank"
)
_OF_FINALIZER = Fix(
    text="make no collective in a finalizer (__del__, weakref.finalize): each rank frees its objects in its own time; "
    "release them by a call that all ranks make at one place"
)


def proved_hang(case: Job, *, code: str, name: str, failure_class: str, fix: Fix) -> Match | None:
    """Returns the match where a deadlock of this class is proved, else None."""
    story = deadlock_story(case)
    if story is None or story.failure_class != failure_class:
        return None
    ranks = [one for rank in story.deadlock.ranks if (one := case.of_rank(rank)) is not None]
    waiting = tuple(rank for rank in story.deadlock.ranks if rank not in story.culprits)
    where = (shown_ranks(story.culprits), *story.locations[:1])
    return Match(
        finding=Finding(
            code=code,
            name=name,
            severity=Severity.ERROR,
            title=_title(case, story),
            where=", ".join(where),
            evidence=tuple(_evidence(case, story)),
            fix=_fix(case, story, fix),
            confidence=Confidence.CONFIRMED if _is_sure(story) else Confidence.LIKELY,
        ),
        failure_class=failure_class,
        outcome=JobOutcome.CRASH if ended_by_itself(case) else JobOutcome.HANG,
        culprit_ranks=story.culprits,
        victim_ranks=waiting,
        locations=story.locations,
        explains=tuple(one.pid for one in (*ranks, *case.victims)),
        began_s=min(one.waits[0].since_s for one in story.deadlock.positions),
    )


def _fix(case: Job, story: DeadlockDiagnosis, usual: Fix) -> Fix:
    if not story.held:
        return _OF_THREADS if story.by_threads else _OF_FINALIZER if story.in_finalizer else usual
    line = case.line(story.held[0][1].user_path[0])
    return Fix(
        text=f"mend what raised at {line}; make no collective in a `finally`, the exit of a `with` or at exit while "
        "an exception is on its way: the other ranks are elsewhere"
    )


def _is_sure(story: DeadlockDiagnosis) -> bool:
    """Whether the line is the only one, and which rank went another way is no choice. The deadlock itself is proved."""
    if not story.decisions or story.locations[0] not in story.decided:
        return len(story.locations) == 1
    if story.certain and story.decisions[0].observed:
        return True  # what the ranks hold says that they parted there, and how
    alone = len(story.splits) == 1 and len(story.splits[0].here) < len(story.splits[0].there)
    return story.certain and (alone or _tells_who(story.decisions[0]))


def _tells_who(decision: DivergencePoint) -> bool:
    """Whether the statement itself says who went another way: a test of the rank, a handler that one rank was in.

    What only follows from the rank (an empty shard) says that the ranks part there, and not who should not have.
    """
    if decision.tainted_by == EXCEPTION:
        return True
    return decision.tainted_by == RANK and rank_words.SHOWS_RANK.search(decision.text) is not None


def _title(case: Job, story: DeadlockDiagnosis) -> str:
    parties = _parties(case, story)
    told = "; ".join(sentence(one) if not index else one for index, one in enumerate(parties))
    decided = story.decisions[0] if story.decisions and not story.held else None
    line = f". Their ways part at {case.line(decided.frame)}: {decided.text}" if decided is not None else ""
    if decided is not None and story.in_finalizer:
        line = f". {case.line(decided.frame)} is in a finalizer, which each rank runs when it frees the object"
    end = "it can never go on" if len(story.deadlock.ranks) == 1 else "none of them can ever go on"
    met = [f"{sentence(shown_ranks((one.rank,)))} went through {_call_of(case, one)}; " for one in _through(story)]
    return f"{''.join(met)}{told[:1].lower() if met else told[:1]}{told[1:]}: {end}{line}"


def _parties(case: Job, story: DeadlockDiagnosis) -> list[str]:
    """Returns "rank 0 waits in barrier() at train.py:31" for the ranks of each place, those to blame first."""
    groups: dict[str, list[int]] = {}
    held = {one.rank: f"{held_text(case, raised)} " for one, raised in story.held}
    for one in (*story.deadlock.gone, *story.deadlock.positions):
        groups.setdefault(f"{held.get(one.rank, '')}{_stands(case, one)}", []).append(one.rank)
    order = sorted(groups.items(), key=lambda item: not set(item[1]) & set(story.culprits))
    return [f"{shown_ranks(tuple(ranks))} {_for(len(ranks), words)}" for words, ranks in order[:MOST_SHOWN]]


def _for(ranks: int, words: str) -> str:
    return words.replace("waits", "wait", 1) if ranks > 1 and words.startswith("waits") else words


def _through(story: DeadlockDiagnosis) -> list[RankState]:
    """Returns the ranks that went through an operation in which others wait with another call."""
    return [one for one in story.met if one not in story.deadlock.positions][:MOST_SHOWN]


def _call_of(case: Job, one: RankState) -> str:
    frames = site(case, one)
    return f"{one.wait.shown if one.wait is not None else ''}{f' at {case.line(frames[0])}' if frames else ''}"


def _stands(case: Job, one: RankState) -> str:
    frames = site(case, one)
    at = f" at {case.line(frames[0])}" if frames else ""
    if one.wait is None:
        return f"{_LEFT.get(one.stand, 'makes no call any more')}{f', left{at}' if at else ''}"
    beside = [f"{wait.shown} at {case.line(frame)}" for wait, frame in waits_of_threads(case, one)]
    more = f", and another thread in {' and '.join(beside)}" if beside else ""
    return f"waits in {one.wait.shown}{at}{more}"


def _evidence(case: Job, story: DeadlockDiagnosis) -> Iterator[Evidence]:
    deadlock = story.deadlock
    for one in (*deadlock.positions, *deadlock.gone)[: 2 * MOST_SHOWN]:
        yield Evidence(source=f"record/agents: rank {one.rank} at {one.at_s:.1f} s", observed=_position(case, one))
    yield Evidence(
        source="wait-for graph over these calls",
        observed=f"{shown_ranks(deadlock.ranks)} wait for ever ({deadlock.knot}), from {deadlock.began_s:.1f} s on"
        + (f"; {'; '.join(map(_differs, deadlock.disagreements[:MOST_SHOWN]))}" if deadlock.disagreements else ""),
        expected="every operation that a rank waits in is reached by the ranks it needs",
    )
    if ended_by_own_timeout(case):
        yield Evidence(source="end of the job", observed="a collective gave up by its own timeout")
    for split in story.splits[:2]:
        yield from _split_evidence(case, split)
    for decision in story.decisions[:2]:
        yield from source_evidence(case, decision.frame)
    for held, raised in story.held[:MOST_SHOWN]:
        yield from path_evidence(case, f"traceback of rank {held.rank}", raised.user_path)
    for decision in story.decisions[:1]:
        yield from _values_evidence(case, story, decision)
    for one in deadlock.positions[:2]:
        yield from path_evidence(case, f"call path of rank {one.rank}", site(case, one))


def _position(case: Job, one: RankState) -> str:
    slot = f", operation {one.wait.slot} of group {one.wait.group}" if one.wait and one.wait.slot is not None else ""
    since = f", since {one.wait.since_s:.1f} s" if one.wait is not None else ""
    return f"{_stands(case, one)}{slot}{since}"


def _differs(pair: CollectiveMismatch) -> str:
    return f"rank {pair.one} and rank {pair.other} differ in {pair.what}"


def _split_evidence(case: Job, split: Split) -> Iterator[Evidence]:
    agreed = split.parting.agreed
    here, there = (_stories(case, ranks) for ranks in (split.parting.here, split.parting.there))
    if agreed is not None:
        yield from path_evidence(case, f"last call that {here} and {there} made alike: {agreed.op}", agreed.path)


def _values_evidence(case: Job, story: DeadlockDiagnosis, decision: DivergencePoint) -> Iterator[Evidence]:
    """Yields what the statement read on each side, as the ranks told while they waited."""
    parting = story.splits[0].parting if len(story.splits) == 1 else None
    for ranks, values in (
        (parting.here, decision.here_values) if parting else ((), ()),
        (parting.there, decision.there_values) if parting else ((), ()),
    ):
        if values:
            told = ", ".join(f"{name} = {value}" for name, value in values)
            yield Evidence(source=f"variables at {case.line(decision.frame)} on {_stories(case, ranks)}", observed=told)


def _stories(case: Job, ranks: Sequence[int]) -> str:
    return named([one for rank in ranks if (one := case.of_rank(rank)) is not None])
