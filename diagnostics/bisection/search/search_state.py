"""What the search for a module knows so far, and how it is told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from diagnostics.bisection.search.delta_debugging import Answer
from diagnostics.bisection.search.module_found import MODEL, FailureRelation, ModuleFound, told
from diagnostics.bisection.search.narrowing import Narrowed, bisect_tree
from diagnostics.bisection.search.part_tree import PartTree
from diagnostics.bisection.search.removals import Removals
from diagnostics.bisection.trial import Failure, ModuleNode, Trial

BEFORE_THE_MODEL = ("import", "group", "batch")


@dataclass(slots=True)
class Search:
    """One search. `heals`, `alone` and `rest` are the trials that the verdict rests on."""

    failing: Trial
    failure: Failure
    nodes: Sequence[ModuleNode]
    tree: PartTree
    removals: Removals
    innocent: frozenset[str]  # the failing forward never reached these
    opened: str | None  # the module that was open when it failed
    gone: frozenset[str] = field(default_factory=frozenset)  # not needed: all of these at once
    heals: Trial | None = None  # without the suspects
    alone: Trial | None = None  # the suspect, or what holds them all, by itself
    rest: Trial | None = None  # everything else replaced

    def narrow(self, *, gone: Collection[str] = (), kept: Collection[str] = ()) -> Narrowed:
        """Returns one that the failure needs, with what else can be gone."""
        found = bisect_tree(self.tree, self.removals.ask, gone=gone, kept=kept, innocent=self.innocent)
        self.gone = found.gone if not gone or set(gone) <= self.gone else self.gone
        return found

    def named(
        self,
        modules: Sequence[str],
        minimal: Trial,
        *,
        relation: FailureRelation = FailureRelation.ONE,
        within: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> ModuleFound:
        """Returns the answer that names modules, with the trials that it rests on."""
        found = ModuleFound(
            minimal=minimal,
            modules=tuple(modules),
            relation=relation,
            within=within,
            heals=self._known(self.heals, Answer.PASSES),
            fails_alone=self._known(self.rest, Answer.FAILS) or self._known(self.alone, Answer.FAILS),
            notes=notes,
        )
        return self.told(found, [trial for trial in (self.heals, self.alone, self.rest) if trial is not None])

    def _known(self, trial: Trial | None, wanted: Answer) -> bool | None:
        said = self.removals.answer(trial) if trial is not None else Answer.UNCLEAR
        return None if said is Answer.UNCLEAR else said is wanted

    def undecided(self, suspects: Sequence[str]) -> ModuleFound:
        """Returns the answer where several are left."""
        shown = ", ".join(name or MODEL for name in suspects)
        return self.told(ModuleFound(minimal=self.failing, undecided=f"these could not be told apart: {shown}"))

    def outside(self) -> ModuleFound:
        """Returns the answer that no module is to blame."""
        why = "it fails in the same way with a stand-in for the whole model"
        if self.failure.phase in BEFORE_THE_MODEL:
            why = f"it fails in phase {self.failure.phase!r}, before the model runs"
        root = self.tree.root
        replaced = self.removals.trial([root]) if self.tree.parts[root].removable else None
        return self.told(ModuleFound(minimal=replaced or self.failing, outside=why))

    def told(self, found: ModuleFound, tried: Sequence[Trial] = ()) -> ModuleFound:
        """Returns an answer with tree and evidence."""
        return told(found, self.nodes, self.tree, gone=tuple(self.gone), tried=tried)

    def cut_short(self) -> ModuleFound:
        """What is known where the tries ran out."""
        self.gone = self.removals.unneeded
        return self.told(ModuleFound(minimal=self.failing, undecided="the search for the module ran out of tries"))
