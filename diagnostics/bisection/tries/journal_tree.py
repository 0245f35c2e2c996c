"""The modules of a model, from what a recorded run wrote down before it ended or died."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from diagnostics.bisection.trial import ModuleNode
from diagnostics.bisection.tries.tries_file import read_node
from diagnostics.core.untrusted_json import read_json_lines


def read_tree(file: Path) -> tuple[ModuleNode, ...]:
    """Returns the modules in the order of named_modules(), as far as the run came; constructions without a model."""
    lines = read_json_lines(file)
    trees = [line["tree"] for line in lines if "tree" in line]
    built = {line["building"]: line for line in lines if "building" in line}
    if not trees:
        finished = {line["built"] for line in lines if "built" in line}
        return tuple(_construction(name, line, name in finished) for name, line in built.items())
    nodes = [read_node(node) for node in trees[-1]]
    seen = _Forward(
        lines,
        alike={node["path"]: node.get("alike", "") for node in trees[-1]},
        scripted={node["path"] for node in trees[-1] if node.get("scripted")},
    )
    inside = {name: str(line.get("inside", "")) for name, line in built.items()}
    return tuple(
        replace(
            node,
            inside=inside.get(node.built_as, ""),
            entered=seen.entered[node.path],
            calls=seen.ended[node.path],
            replaceable=seen.replaceable(node.path, [one.path for one in nodes]),
        )
        for node in nodes
    )


class _Forward:
    """What a recorded forward pass shows of each module."""

    def __init__(self, lines: Sequence[Mapping[str, Any]], *, alike: Mapping[str, str], scripted: set[str]) -> None:
        entered = {line["number"]: line["enter"] for line in lines if "enter" in line}
        left = {line["leave"]: line["output"] for line in lines if "leave" in line}
        last = max((line["forward"] for line in lines if "forward" in line), default=0)
        self.entered = Counter(path for number, path in entered.items() if number >= last)
        self.ended = Counter(path for number, path in entered.items() if number >= last and number in left)
        opaque = {entered[number] for number, output in left.items() if number in entered and _opaque(output)}
        self._opaque = opaque | scripted
        self._known = {entered[number] for number in left if number in entered} - opaque
        self._alike = alike
        self._kinds_known = {alike.get(path, path) for path in self._known}

    def replaceable(self, path: str, paths: Sequence[str]) -> bool:
        """Returns whether a stand-in can give what the module gives: as it did, as one built alike did, or a guess.

        A guess is made for a module that did not come to its end; of one that nobody calls, those below are asked.
        """
        if path in self._opaque:  # by its output, or torch compiled it
            return False
        if path in self._known or self._alike.get(path, path) in self._kinds_known or self.entered[path]:
            return True
        below = [one for one in paths if one.rpartition(".")[0] == path and one != path]
        called = [one for one in below if self.replaceable(one, paths)]
        return bool(called)


def _construction(name: str, line: Mapping[str, Any], built: bool) -> ModuleNode:
    return ModuleNode(
        path="",
        class_name=str(line.get("class_name", "")),
        place=str(line.get("place", "")),
        built_as=name,
        inside=str(line.get("inside", "")),
        built=built,
    )


def _opaque(structure: Mapping[str, Any]) -> bool:
    return structure["kind"] == "opaque" or any(_opaque(item) for item in structure.get("items", ()))
