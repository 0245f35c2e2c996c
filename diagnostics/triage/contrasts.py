"""What parts the runs that died from those that lived: settings, and how many runs stand for and against. Pure.

An association, never a cause: with few runs many settings part them by chance, so that Fisher's exact test must find
chance unlikely, and settings that part the runs in the same way are told together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

from diagnostics.agent.shared.secret_lines import is_secret_variable
from diagnostics.triage.run import DIED, LIVED, Judgement, RunFate, TrackedRun
from diagnostics.triage.trace import Scalar

UNLIKELY = 0.05
MOST_CONTRASTS = 3
LEAST_ALIKE = 2  # runs that ended in one way
MOST_VALUES = 12  # a setting with more of them names runs, it does not describe them
COMMITS = ("commit", "git.commit", "git_commit")
NAMES_OF_RUNS = ("run_name", "name", "run_id", "id", "output.dir", "output_dir", "startedat", "host", "pid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Runs with a setting against those without it. "with" and "without" count (bad, good) runs."""

    settings: tuple[str, ...]  # "num_gpus = 2"; those after the first part the runs alike
    with_it: tuple[int, int]
    without_it: tuple[int, int]
    chance: float

    @property
    def stand_for(self) -> int:
        """Runs that fit: bad ones with it, good ones without it."""
        return self.with_it[0] + self.without_it[1]

    @property
    def stand_against(self) -> int:
        """Runs that do not."""
        return self.with_it[1] + self.without_it[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What is common to a class of runs; `words` says which against which."""

    words: str
    contrasts: tuple[Contrast, ...] = ()
    why_none: str = ""


def patterns(judged: Sequence[tuple[TrackedRun, Judgement]]) -> tuple[Pattern, ...]:
    """Returns what parts those that died from those that lived, and what parts those that died early or in one way.

    What ran out of memory has other settings than what came to its time limit.
    """
    fates: tuple[RunFate, ...] = (*DIED, *LIVED)
    if not any(judgement.fate in LIVED for _, judgement in judged):
        fates = (*fates, RunFate.UNKNOWN)  # nothing says how they ended, and nothing that they died
    counted = [(run, judgement.fate) for run, judgement in judged if judgement.fate in fates]
    died = {id(run) for run, fate in counted if fate in DIED}
    early = {id(run) for run, fate in counted if fate in DIED and not run.rows}
    runs = [run for run, _ in counted]
    if not died:
        return ()
    unknown = any(fate is RunFate.UNKNOWN for _, fate in counted)
    found = [_pattern("died, of the others nothing says how they ended" if unknown else "died", runs, died)]
    if early and early != died:
        found.append(_pattern("died before the first row on disk", runs, early))
    for kind in DIED:
        alike = {id(run) for run, fate in counted if fate is kind}
        if len(alike) >= LEAST_ALIKE and alike not in (died, early):
            one = _pattern(str(kind), runs, alike)
            found += [one] if one.contrasts else []
    return tuple(found)


def _pattern(what: str, runs: Sequence[TrackedRun], bad: set[int]) -> Pattern:
    words = f"{len(bad)} of {len(runs)} runs {what}"
    if len(bad) == len(runs):
        return Pattern(words=words, why_none="none lived to compare with")
    found = list(_contrasts(runs, bad))
    best = sorted(found, key=lambda one: (one.chance, one.stand_against, one.settings))[:MOST_CONTRASTS]
    return Pattern(words=words, contrasts=tuple(best),
                   why_none="" if best else "no setting parts them more clearly than chance would")  # fmt: skip


def _contrasts(runs: Sequence[TrackedRun], bad: set[int]) -> Iterator[Contrast]:
    """Yields one for each way in which settings part the runs, where chance is unlikely."""
    alike: dict[frozenset[int], list[str]] = defaultdict(list)
    known: dict[frozenset[int], list[TrackedRun]] = {}
    for name, given in sorted(_values(runs).items()):
        whole = [run for run in runs if id(run) in given]
        for words, having in _parts(name, whole, given):
            key = frozenset(having)
            if 0 < len(having) < len(whole):
                alike[key].append(words)
                known.setdefault(key, whole)
    for key, told in alike.items():
        with_it, without = _count(known[key], bad, key, True), _count(known[key], bad, key, False)
        chance = fisher(*with_it, *without)
        if chance <= UNLIKELY:
            yield Contrast(settings=tuple(told[:8]), with_it=with_it, without_it=without, chance=chance)


def _count(runs: Iterable[TrackedRun], bad: set[int], having: frozenset[int], wanted: bool) -> tuple[int, int]:
    chosen = [id(run) in bad for run in runs if (id(run) in having) is wanted]
    return sum(chosen), len(chosen) - sum(chosen)


def _values(runs: Sequence[TrackedRun]) -> dict[str, dict[int, Scalar]]:
    """Returns each setting's value by run, without secrets and what only names a run."""
    found: dict[str, dict[int, Scalar]] = defaultdict(dict)
    for run in runs:
        if run.world_size is not None:
            found["ranks"][id(run)] = run.world_size
        for name, value in run.settings.items():
            if name.lower() not in NAMES_OF_RUNS and not is_secret_variable(name, str(value)):
                found[name][id(run)] = value
    return found


def _parts(name: str, runs: Sequence[TrackedRun], given: dict[int, Scalar]) -> Iterator[tuple[str, set[int]]]:
    """Yields ("num_gpus = 2", runs with it); of numbers also "lr >= 0.1", of commits "since commit"."""
    values = set(given.values())
    if len(values) < 2:
        return
    if len(values) <= MOST_VALUES:
        for value in sorted(values, key=str):
            yield f"{name} = {value}", {id(run) for run in runs if given[id(run)] == value}
    numbers = sorted(value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool))
    if len(numbers) == len(values) > 2:
        for value in numbers[1:]:
            yield f"{name} >= {value}", {id(run) for run in runs if given[id(run)] >= value}  # type: ignore[operator]
    if name.lower() in COMMITS:
        begun: dict[Scalar, float] = {}
        for run in runs:
            at = run.started_s or 0.0
            begun[given[id(run)]] = min(begun.get(given[id(run)], at), at)
        for commit, at in sorted(begun.items(), key=lambda pair: pair[1])[1:]:
            yield f"since commit {str(commit)[:12]}", {id(run) for run in runs if (run.started_s or 0.0) >= at}


def fisher(bad_with: int, good_with: int, bad_without: int, good_without: int) -> float:
    """Returns how likely chance alone gives as many bad runs among those with a setting, or more."""
    bad, having = bad_with + bad_without, bad_with + good_with
    total = having + bad_without + good_without
    most = min(bad, having)
    ways = sum(comb(bad, count) * comb(total - bad, having - count) for count in range(bad_with, most + 1))
    return ways / comb(total, having)
