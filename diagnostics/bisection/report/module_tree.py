"""The module tree as lines to draw: equal neighbours folded into one, branches of one mark left out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from diagnostics.bisection.found import Mark, TreeRow

MOST_LINES = 80


@dataclass(slots=True)
class ModuleBranch:
    """One module with those below it."""

    row: TreeRow
    children: list[ModuleBranch] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Modules in it, itself included."""
        return 1 + sum(child.size for child in self.children)

    @property
    def telling(self) -> bool:
        """Something was found in it."""
        return self.row.mark in (Mark.CULPRIT, Mark.FAILS) or any(child.telling for child in self.children)

    @property
    def marks(self) -> set[Mark]:
        """Every mark in it."""
        return {self.row.mark}.union(*(child.marks for child in self.children))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the picture; `count` equal neighbours are folded into it, `inside` modules below are left out."""

    depth: int
    label: str
    class_name: str
    mark: Mark
    parameters: int = 0
    count: int = 1
    inside: int = 0


def lines_of(rows: Sequence[TreeRow], *, most: int = MOST_LINES) -> list[Line]:
    """Returns the tree in as many lines as show what was found, and no more than about `most` of the rest."""
    top = grown(rows)
    if top is None:
        return []
    small = top.size <= most
    return list(_lines(top, 0, "", fold_all=not small))


def grown(rows: Sequence[TreeRow]) -> ModuleBranch | None:
    """Returns the tree that dotted paths make; None for no rows."""
    branches: dict[str, ModuleBranch] = {}
    for row in rows:
        branches[row.path] = ModuleBranch(row)
        parent = _parent(row.path, branches)
        if parent is not None:
            parent.children.append(branches[row.path])
    return branches.get("")


def _parent(path: str, known: dict[str, ModuleBranch]) -> ModuleBranch | None:
    """Returns the nearest module above that is known: a ModuleList is skipped where nobody listed it."""
    while path:
        path = path.rpartition(".")[0]
        if path in known:
            return known[path]
    return None


def _lines(branch: ModuleBranch, depth: int, above: str, *, fold_all: bool) -> Iterator[Line]:
    row = branch.row
    label = row.path.removeprefix(f"{above}.") if above else row.path
    folded = fold_all and depth > 0 and not branch.telling and len(branch.marks) == 1
    inside = branch.size - 1 if folded else 0
    yield Line(
        depth=depth, label=label, class_name=row.class_name, mark=row.mark, parameters=row.parameters, inside=inside
    )
    if folded:
        return
    for group in _groups(branch.children):
        first, last = group[0], group[-1]
        if len(group) < 2:
            for child in group:
                yield from _lines(child, depth + 1, row.path, fold_all=fold_all)
            continue
        names = [child.row.path.rpartition(".")[2] for child in (first, last)]
        yield Line(
            depth=depth + 1,
            label=f"{names[0]} ... {names[1]}",
            class_name=first.row.class_name,
            mark=first.row.mark,
            parameters=sum(child.row.parameters for child in group),
            count=len(group),
            inside=sum(child.size - 1 for child in group),
        )


def _groups(children: Sequence[ModuleBranch]) -> Iterator[list[ModuleBranch]]:
    """Yields neighbours that are alike: one class, one mark all through, nothing found in them."""
    group: list[ModuleBranch] = []
    for child in children:
        if group and _alike(group[-1], child):
            group.append(child)
            continue
        if group:
            yield group
        group = [child]
    if group:
        yield group


def _alike(one: ModuleBranch, other: ModuleBranch) -> bool:
    same = (one.row.class_name, one.marks, one.size) == (other.row.class_name, other.marks, other.size)
    return same and len(one.marks) == 1 and not one.telling and not other.telling
