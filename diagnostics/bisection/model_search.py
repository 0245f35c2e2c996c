"""Finds the smallest module that a failure comes from: hints first, then halves of the module tree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from diagnostics.analysis.delta_debugging import Answer
from diagnostics.analysis.narrowing import Narrowed, narrow
from diagnostics.analysis.part_tree import PartTree
from diagnostics.bisection.constructor_search import CONSTRUCTING, NO_TREE, search_constructors
from diagnostics.bisection.module_found import MODEL, ModuleFound, Relation, told
from diagnostics.bisection.removals import Removals
from diagnostics.bisection.suspicion import known_modules, never_reached, open_module, part_tree
from diagnostics.bisection.trial import Failure, ModuleNode, Oracle, OutOfTries, Trial

BEFORE_THE_MODEL = ("import", "group", "batch")
MOST_TOGETHER = 4  # modules of one set
MOST_ALONE = 4  # suspects that are run alone where none can be taken out


def search_model(oracle: Oracle, failing: Trial, *, healthy: Trial | None = None) -> ModuleFound:
    """Returns the smallest module, or set of modules, whose removal heals and whose isolation fails in the same way.

    `failing` has its failure and the minimal settings; `healthy` is a trial of the same model that passes. Raises
    ValueError where `failing` has no failure.
    """
    failure = failing.failure
    if failure is None:
        raise ValueError("a case that does not fail has no failing module")
    if failure.phase in CONSTRUCTING:
        return search_constructors(oracle, failing, failure)
    nodes = known_modules(failing, healthy)
    if not nodes:
        early = failure.phase in BEFORE_THE_MODEL
        where = f"it fails in phase {failure.phase!r}, before the model runs"
        return ModuleFound(minimal=failing, outside=where if early else "", undecided="" if early else NO_TREE)
    tree = part_tree(nodes, failing)
    search = _Search(
        failing=failing,
        failure=failure,
        nodes=nodes,
        tree=tree,
        removals=Removals(oracle, failing, failure, tree),
        innocent=never_reached(failing),
        opened=open_module(nodes, failure),
    )
    try:
        return search.before_the_model() if failure.phase in BEFORE_THE_MODEL else search.run()
    except OutOfTries:
        return search.cut_short()


@dataclass(slots=True)
class _Search:
    failing: Trial
    failure: Failure
    nodes: Sequence[ModuleNode]
    tree: PartTree
    removals: Removals
    innocent: frozenset[str]
    opened: str | None  # the module that was open when it failed
    gone: frozenset[str] = field(default_factory=frozenset)  # not needed: all of these at once
    heals: Trial | None = None
    alone: Trial | None = None
    rest: Trial | None = None  # everything else replaced

    def run(self) -> ModuleFound:
        """Narrows to one suspect and judges it."""
        first = self._narrow()
        match first.suspects:
            case ():
                return self._outside()
            case (one,) if first.heals:
                return self._judged(one)
            case several:
                return self._by_isolation(several)

    def before_the_model(self) -> ModuleFound:
        """The phase says it; a stand-in for the whole model confirms it, where there can be one."""
        root = self.tree.root
        if self.tree.parts[root].removable:
            self.heals = self.removals.trial([root])
        if self.heals is not None and self.removals.answer(self.heals) is Answer.PASSES:
            return self.run()
        return self._outside()

    def cut_short(self) -> ModuleFound:
        """What is known where the tries ran out."""
        self.gone = self.removals.unneeded
        return self._told(ModuleFound(minimal=self.failing, undecided="the search for the module ran out of tries"))

    def _narrow(self, *, gone: Collection[str] = (), kept: Collection[str] = ()) -> Narrowed:
        found = narrow(self.tree, self.removals.ask, gone=gone, kept=kept, innocent=self.innocent)
        self.gone = found.gone if not gone or set(gone) <= self.gone else self.gone
        return found

    # ----------------------------------------------------------------------------------------------- one suspect

    def _judged(self, suspect: str) -> ModuleFound:
        """The model without it must pass, and it must fail alone; else others have a part in it."""
        self.heals, self.alone = self.removals.both(suspect)
        if self.removals.answer(self.heals) is Answer.FAILS:
            return self._each(suspect)
        if self.removals.answer(self.alone) is Answer.FAILS:
            return self._named((suspect,), self._smallest(suspect))
        self.rest = self.removals.trial(self.tree.others([suspect]))
        if self.removals.answer(self.rest) is not Answer.FAILS:
            return self._together(suspect)
        self.gone = self.tree.roots(self.tree.others([suspect]))
        inside = self.opened is not None and self.opened in self.tree.below(suspect)
        if inside or self.removals.answer(self.alone) is Answer.UNCLEAR:
            return self._named((suspect,), self.rest)
        return self._around(suspect)

    def _smallest(self, suspect: str) -> Trial:
        """Returns the failing trial with the least in it."""
        if suspect == self.tree.root and self.gone:
            return self.removals.trial(self.gone)
        return self.alone if self.alone is not None else self.failing

    def _around(self, suspect: str) -> ModuleFound:
        """It passes alone although nothing else is needed: the code that calls it has a part in it."""
        holding = self._fails_alone(suspect)
        without = self.removals.trial([holding])
        if self.removals.answer(without) is not Answer.PASSES:
            return self._named((suspect,), self.rest or self.failing)
        self.heals, self.alone = without, self.removals.alone(holding)
        note = f"{suspect} is needed in it: with a stand-in for it the model passes, and alone it passes, too"
        minimal = (self.rest or self.failing) if holding == self.tree.root else self.alone
        return self._named((holding,), minimal, notes=(note,))

    def _fails_alone(self, name: str) -> str:
        """Returns the smallest part above that fails alone; the model itself where nothing smaller does."""
        above = self.tree.above(name)
        low, high = 0, len(above) - 1  # above[high] is the whole model, which fails
        while low < high:
            middle = (low + high) // 2
            if self.removals.answer(self.removals.alone(above[middle])) is Answer.FAILS:
                high = middle
            else:
                low = middle + 1
        return above[high]

    # ---------------------------------------------------------------------------------------------- several of them

    def _together(self, first: str) -> ModuleFound:
        """Without the others it passes, too: finds which of them it takes."""
        kept = [first]
        while len(kept) < MOST_TOGETHER:
            found = self._narrow(gone=self.gone, kept=kept)
            if len(found.suspects) != 1 or not found.heals:
                if found.suspects:
                    return self._undecided((*kept, *found.suspects))
                break
            kept.append(found.suspects[0])
            self.rest = self.removals.trial(self.tree.others(kept))
            if self.removals.answer(self.rest) is Answer.FAILS:
                self.gone = frozenset(self.tree.others(kept))
                break
        else:
            return self._undecided(tuple(kept))
        if len(kept) == 1:
            return self._around(first)
        return self._set(kept)

    def _set(self, kept: Sequence[str]) -> ModuleFound:
        names = tuple(name for name in self.tree.parts if name in kept)
        common = self.tree.common(names)
        self.alone = self.removals.alone(common)
        holds = common != self.tree.root and self.removals.answer(self.alone) is Answer.FAILS
        minimal = self.alone if holds else self.removals.trial(self.gone)
        return self._named(names, minimal, relation=Relation.TOGETHER, within=common if holds else None)

    def _each(self, first: str) -> ModuleFound:
        """Without the first it fails all the same: another one fails by itself, too, as a rule of the same class."""
        same = self._of_its_class(first)
        if first in same and len(same) > 1 and self.removals.ask(same) is Answer.PASSES and self._all_fail(first, same):
            self.heals, self.alone = self.removals.trial(same), self.removals.alone(first)
            tried = len(_sample(first, same))
            notes = (f"{tried} of the {len(same)} were run alone",) if tried < len(same) else ()
            return self._named(same, self.alone, relation=Relation.EACH, notes=notes)
        return self._each_by_itself(first)

    def _all_fail(self, first: str, same: Sequence[str]) -> bool:
        """Returns whether some of a class fail alone, and it still fails without just these."""
        some = _sample(first, same)
        if not all(self.removals.answer(self.removals.alone(name)) is Answer.FAILS for name in some):
            return False
        return len(some) == len(same) or self.removals.ask(some) is Answer.FAILS

    def _of_its_class(self, name: str) -> tuple[str, ...]:
        wanted = next(node for node in self.nodes if node.path == name)
        kind = (wanted.class_name, wanted.place)
        alike = [node.path for node in self.nodes if (node.class_name, node.place) == kind]
        # One that holds another of them would fail alone because of that one.
        return tuple(
            path
            for path in alike
            if self.tree.parts[path].removable
            and not any(one != path and one in self.tree.below(path) for one in alike)
        )

    def _each_by_itself(self, first: str) -> ModuleFound:
        found = [first]
        while self.removals.ask(found) is not Answer.PASSES:
            more = self._narrow(gone=found)
            if len(found) == MOST_TOGETHER or len(more.suspects) != 1 or not more.heals:
                return self._undecided((*found, *more.suspects))
            found.append(more.suspects[0])
        for name in tuple(found):  # a module that two others call is found after the first of these
            fewer = [one for one in found if one != name]
            if fewer and self.removals.ask(fewer) is Answer.PASSES:
                found = fewer
        if len(found) == 1:
            return self._judged(found[0])
        self.heals = self.removals.trial(found)
        self.alone = self.removals.alone(found[0])
        minimal = self.alone if self.removals.answer(self.alone) is Answer.FAILS else self.failing
        return self._named(tuple(found), minimal, relation=Relation.EACH)

    # -------------------------------------------------------------------------------------------------- no removal

    def _by_isolation(self, suspects: Sequence[str]) -> ModuleFound:
        """None of these can be taken out: the smallest one that fails alone is named."""
        order = sorted(suspects, key=lambda name: (name != self.opened, len(self.tree.below(name))))
        for name in [one for one in order if one != self.tree.root][:MOST_ALONE]:
            if self.removals.answer(self.removals.alone(name)) is Answer.FAILS:
                return self._smallest_alone(name)
        if tuple(suspects) == (self.tree.root,):
            return self._root_by_elimination()
        return self._undecided(tuple(suspects))

    def _smallest_alone(self, name: str) -> ModuleFound:
        """It fails alone: halves what is below it, run alone."""
        outside = set(self.tree.parts) - self.tree.below(name)
        found = narrow(
            self.tree, lambda gone: self.removals.ask(gone, alone=name), kept=[name], innocent=outside | self.innocent
        )
        below = sorted(found.suspects, key=lambda one: len(self.tree.below(one)))
        for one in below[:MOST_ALONE]:
            if self.removals.answer(self.removals.alone(one)) is Answer.FAILS:
                name = one
                break
        self.alone = self.removals.alone(name)
        self.heals = self.removals.trial([name]) if self.tree.parts[name].removable else None
        if self.heals is not None and self.removals.answer(self.heals) is Answer.FAILS:
            return self._each(name)
        return self._named((name,), self.alone)

    def _root_by_elimination(self) -> ModuleFound:
        """Everything inside can be replaced, the model itself cannot: its own code or what is around it."""
        if self.failure.phase in ("forward", "loss", "backward"):
            return self._named((self.tree.root,), self.removals.trial(self.gone))
        return self._undecided((self.tree.root,))

    # ----------------------------------------------------------------------------------------------------- verdicts

    def _named(
        self,
        modules: Sequence[str],
        minimal: Trial,
        *,
        relation: Relation = Relation.ONE,
        within: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> ModuleFound:
        found = ModuleFound(
            minimal=minimal,
            modules=tuple(modules),
            relation=relation,
            within=within,
            heals=self._known(self.heals, Answer.PASSES),
            fails_alone=self._known(self.alone, Answer.FAILS),
            notes=notes,
        )
        return self._told(found, [trial for trial in (self.heals, self.alone, self.rest) if trial is not None])

    def _known(self, trial: Trial | None, wanted: Answer) -> bool | None:
        said = self.removals.answer(trial) if trial is not None else Answer.UNCLEAR
        return None if said is Answer.UNCLEAR else said is wanted

    def _undecided(self, suspects: Sequence[str]) -> ModuleFound:
        shown = ", ".join(name or MODEL for name in suspects)
        return self._told(ModuleFound(minimal=self.failing, undecided=f"these could not be told apart: {shown}"))

    def _outside(self) -> ModuleFound:
        why = "it fails in the same way with a stand-in for the whole model"
        if self.failure.phase in BEFORE_THE_MODEL:
            why = f"it fails in phase {self.failure.phase!r}, before the model runs"
        root = self.tree.root
        replaced = self.removals.trial([root]) if self.tree.parts[root].removable else None
        return self._told(ModuleFound(minimal=replaced or self.failing, outside=why))

    def _told(self, found: ModuleFound, tried: Sequence[Trial] = ()) -> ModuleFound:
        return told(found, self.nodes, self.tree, gone=tuple(self.gone), tried=tried)


def _sample(first: str, same: Sequence[str]) -> tuple[str, ...]:
    """Returns all of a few, else the first that was found and those at both ends."""
    return tuple(same) if len(same) <= MOST_ALONE else tuple(dict.fromkeys((first, same[0], same[-1])))
