"""The ways in which a script may show a failure: what it builds, and on which numbers. Each is a try of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.tries.recording import Recording
from diagnostics.static.slicing.value_literals import NumberFidelity


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A module of the model, built from its recorded constructor arguments or taken from what the factory returns."""

    path: str
    construction: str = ""  # "package.module.Class#2" of one whose constructor fails; it has no path
    by_factory: bool = False
    imported: bool = False  # the user's code is imported and not taken along
    numbers: NumberFidelity = NumberFidelity.SIMPLE
    every_call: bool = False  # called as often as in the model

    @property
    def words(self) -> str:
        """Says which way it is."""
        kind = self.construction.partition("#")[0].rpartition(".")[2]
        what = f"{self.path or kind} alone" if self.path or kind else "the whole model"
        said = [f"{what}, {'as the factory builds it' if self.by_factory else 'with its recorded arguments'}"]
        said += ["called as often as in the model"] if self.every_call else []
        said += ["with the recorded masks"] if self.numbers is NumberFidelity.MASKS else []
        said += ["on numbers like the recorded ones"] if self.numbers is NumberFidelity.ALIKE else []
        said += ["on the recorded numbers"] if self.numbers is NumberFidelity.EQUAL else []
        said += ["imported from your own code"] if self.imported else []
        return ", ".join(said)


def ways(case: Configuration, paths: Sequence[str], constructions: Sequence[str]) -> list[Variant]:
    """Returns the ways in which a failure may be shown, the shortest script first; the whole model comes last."""
    found = []
    for imported in (False, True):
        found += [Variant(path="", construction=name, imported=imported) for name in constructions]
        for path in dict.fromkeys([*paths, ""]) if not constructions else [""]:
            found += [Variant(path=path, imported=imported)] if not constructions else []
            found += [Variant(path=path, by_factory=True, imported=imported)] if case.source.factory else []
    return found


def variants(way: Variant, recording: Recording) -> list[Variant]:
    """Returns the same with inputs ever closer to those that were seen, for where it does not fail."""
    several = len(recording.calls.get(way.path, ())) > 1
    called = [way, *([replace(way, every_call=True)] if several else [])]
    return [replace(one, numbers=numbers) for numbers in NumberFidelity for one in called]
