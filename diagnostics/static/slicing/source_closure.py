"""One text with all that a class or function needs from the modules of its project, in the order it runs. Pure."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diagnostics.static.slicing.dependencies import Dependencies
from diagnostics.static.slicing.import_targets import ModuleTable, Outside, Own, Target, Whole
from diagnostics.static.slicing.module_statements import ModuleStatement, ModuleText, imports_in
from diagnostics.static.slicing.scopes import imported_name
from diagnostics.static.slicing.source_edits import edited

__all__ = ["Closure", "ModuleText", "Own", "source_closure"]
_AT_HAND = frozenset({"torch", "__future__"}) | sys.stdlib_module_names
_GUARDS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "OSError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The text; what each root is called in it; packages beside torch it imports; what could not be taken along."""

    imports: tuple[str, ...]
    body: str
    names: Mapping[Own, str]
    needs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Imports and body, as a module of its own."""
        return "\n".join([*self.imports, *([""] if self.imports else []), self.body])

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n")


def source_closure(
    sources: Mapping[str, ModuleText], roots: Sequence[Own], *, reserved: frozenset[str] = frozenset()
) -> Closure:
    """Returns what the roots need, with no name of `reserved` bound but by an equal import.

    `sources` is asked for single modules only, so it may read files as it goes. Raises SyntaxError.
    """
    needs = Dependencies(ModuleTable(sources), roots)
    named = _Names(needs, roots, reserved)
    units = sorted(needs.units.values(), key=needs.order.place)
    pieces = [_text(needs, named, unit) for unit in units]
    return Closure(
        imports=tuple(_import_lines(needs, named)),
        body=_joined(pieces),
        names={root: named.of[found] for root in roots if (found := _root(needs, root)) in named.of},
        needs=tuple(sorted(_packages(needs))),
        problems=tuple(needs.problems),
    )


def _root(needs: Dependencies, root: Own) -> Target | None:
    return needs.modules.meaning(root.module, root.name)


class _Names:
    """What each needed thing is called in the one text."""

    def __init__(self, needs: Dependencies, roots: Sequence[Own], reserved: frozenset[str]) -> None:
        self.of: dict[Target, str] = {}
        self._taken: dict[str, Target] = {}
        self._hidden = needs.hidden
        several = len({own.module for own in needs.names}) > 1
        self._barred = reserved | (frozenset(dir(builtins)) if several else frozenset())
        for outside in needs.outside:
            self._call(outside, outside.alias)
        first = [found for root in roots if isinstance(found := _root(needs, root), Own)]
        rest = sorted(needs.names, key=lambda own: (_first_place(needs, own), own.name))
        for own in dict.fromkeys([*first, *rest]):
            self._call(own, own.name)

    def _call(self, target: Own | Outside, wish: str) -> None:
        tail = target.module.rpartition(".")[2]
        choices = [wish, f"{wish}_{tail}", *(f"{wish}_{number}" for number in range(2, 100))]
        self.of[target] = next(name for name in choices if self._free(name, target))
        self._taken.setdefault(self.of[target], target)

    def _free(self, name: str, target: Own | Outside) -> bool:
        if name in self._hidden[target]:
            return False
        if isinstance(target, Outside):
            other = self._taken.get(name)
            return other is None or _same_thing(other, target)
        return name not in self._taken and name not in self._barred


def _same_thing(one: Target, other: Outside) -> bool:
    """`import a.b` and `import a.c` both bind a."""
    if not isinstance(one, Outside):
        return False
    tops = [each.module.partition(".")[0] if not each.name and "." in each.module else "" for each in (one, other)]
    alike = (one.module, one.name) == (other.module, other.name)
    return alike or (other.alias in (other.module.partition(".")[0],) and not one.name and not other.name and any(tops))


def _first_place(needs: Dependencies, own: Own) -> int:
    return min(needs.order.place(unit) for unit in needs.modules[own.module].binding[own.name])


def _text(needs: Dependencies, named: _Names, unit: ModuleStatement) -> str:
    new: dict[ast.AST, str] = {}
    for use in unit.references:
        found, taken = needs.meaning(unit, use)
        called = named.of.get(found) if found is not None else None
        other = called is not None and (taken or called != use.name)
        if called is not None and other and (isinstance(found, Own) or use.imported_by is None):
            new[use.chain[taken - 1] if taken else use.node] = called
    for node in imports_in(unit.node):
        replaced = _assignments(needs, named, unit, node)
        if replaced is not None:
            new[node] = replaced
    renamed = {
        own.name: called
        for own, called in named.of.items()
        if isinstance(own, Own) and own.module == unit.module and own.name != called
    }
    return edited(needs.modules[unit.module].source.text, unit.node, new, renamed)


def _assignments(
    needs: Dependencies, named: _Names, unit: ModuleStatement, node: ast.Import | ast.ImportFrom
) -> str | None:
    """Returns what stands in place of an import of what is in the text already, None where it stays."""
    said: list[str] = []
    changed = isinstance(node, ast.ImportFrom) and node.level > 0
    for alias in node.names:
        name = imported_name(alias)
        found = needs.modules.imported(unit.module, node, name)
        outer = named.of.get(Own(unit.module, name), name) if name in unit.binds else name
        if isinstance(found, Own | Whole):
            changed = True
            called = named.of.get(found)
            if name in unit.binds and called is not None and called != outer:
                said.append(f"{outer} = {called}")
        else:
            module = needs.modules[unit.module].absolute(node) if isinstance(node, ast.ImportFrom) else None
            said.append(_import_line(module, alias.name, outer, bare=not alias.asname))
            changed |= outer != name
    return ("; ".join(said) or "pass") if changed else None


def _import_line(module: str | None, name: str, called: str, *, bare: bool = True) -> str:
    """`from module import name`, or `import name` where module is None."""
    if module is None:
        return f"import {name}" + ("" if bare and called == name.partition(".")[0] else f" as {called}")
    return f"from {module} import {name}" + (f" as {called}" if called != name else "")


def _import_lines(needs: Dependencies, named: _Names) -> list[str]:
    future = needs.skipped_annotations or any(needs.modules[module].future_annotations for module, _ in needs.units)
    plain, chosen = set(), {}
    for one in needs.outside:
        called = named.of[one]
        if one.name:
            chosen[one.module, one.name, called] = _import_line(one.module, one.name, called)
        else:
            plain.add(_import_line(None, one.module, called, bare=one.alias == one.module.partition(".")[0]))
    stars = [f"from {module} import *" for module in needs.stars]
    first = ["from __future__ import annotations"] if future else []
    return [*first, *stars, *sorted(plain), *(chosen[key] for key in sorted(chosen))]


def _packages(needs: Dependencies) -> Iterable[str]:
    modules = {one.module for one in needs.outside} | set(needs.stars)
    for unit in needs.units.values():
        guarded = {
            node for one in ast.walk(unit.node) if isinstance(one, ast.Try) and _guards(one) for node in ast.walk(one)
        }
        for node in imports_in(unit.node):
            if node in guarded:
                continue
            for alias in node.names:
                found = needs.modules.imported(unit.module, node, imported_name(alias))
                modules |= {found.module} if isinstance(found, Outside) else set()
    return {top for module in modules if (top := module.partition(".")[0]) not in _AT_HAND}


def _guards(node: ast.Try) -> bool:
    """Whether a missing package is no misfortune here."""
    for handler in node.handlers:
        names = {one.id for one in ast.walk(handler.type) if isinstance(one, ast.Name)} if handler.type else _GUARDS
        if names & _GUARDS:
            return True
    return False


def _joined(pieces: Sequence[str]) -> str:
    """Two empty lines around definitions, none between short statements."""
    lines: list[str] = []
    for place, piece in enumerate(pieces):
        block = _is_block(piece)
        if place and (block or _is_block(pieces[place - 1])):
            lines += ["", ""]
        lines.append(piece.rstrip())
    return "\n".join(lines) + "\n" if lines else ""


def _is_block(piece: str) -> bool:
    return piece.lstrip().startswith(("@", "def ", "class ", "async def "))
