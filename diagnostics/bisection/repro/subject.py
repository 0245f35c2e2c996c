"""What a script runs: one module by itself or the whole model, and how it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.repro.harness import CUT, HELD, RESERVED, STAND_IN, TREE_LEAVES
from diagnostics.bisection.repro.recorded_values import Values
from diagnostics.bisection.repro.user_sources import UserSources
from diagnostics.bisection.repro.ways import Variant
from diagnostics.bisection.trial import ModuleNode
from diagnostics.bisection.tries.recording import ModuleCall, Recording
from diagnostics.core.python_syntax import parsed
from diagnostics.static.slicing.source_closure import Closure, Own, source_closure
from diagnostics.static.slicing.value_literals import MADE, Literals, NotTextError, NumberFidelity


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Definitions, the statements that bind `model`, and what stands between the brackets of its calls."""

    way: Variant
    imports: tuple[str, ...]
    body: str
    build: tuple[str, ...]
    inputs: tuple[str, ...]  # one for each call
    needs: tuple[str, ...]


class Subjects:
    """Writes subjects for one minimal case."""

    def __init__(
        self,
        case: Configuration,
        recording: Recording,
        nodes: Sequence[ModuleNode],
        sources: UserSources,
        values: Values,
        *,
        forward: bool,
    ) -> None:
        self._owns: list[Own]
        self._case, self._recording, self._sources, self._forward = case, recording, sources, forward
        self._built_as = {node.path: node.built_as for node in nodes}
        self._nodes = nodes
        self._parameters = {node.path: node.parameters for node in nodes}
        self._values, self._owns = values, []

    def subject(self, way: Variant) -> Subject:
        """Returns what this way runs. Raises NotTextError where it cannot be written down, SyntaxError."""
        self._owns = []
        texts = self._texts()
        build = list(self._building(way, texts))
        helpers = list(self._edits(way, texts, build))
        calls = self._calls(way) if self._forward else ()
        inputs = tuple(self._call_text(call, way, texts) for call in calls)
        build += ["model.eval()"] if calls and not calls[0].training else []
        if self._demands_a_parameter(way):
            build.append("model = Held(model)")
            helpers.append(HELD)
        closure = self._imported() if way.imported else self._closure()
        imports = [*closure.imports, *sorted(texts.imports)]
        helpers += [MADE] if texts.needs_made else []
        imports += [TREE_LEAVES] if STAND_IN in helpers else []
        return Subject(
            way=way,
            imports=tuple(imports),
            body="\n\n\n".join(filter(None, [closure.body.strip("\n"), *dict.fromkeys(helpers)])),
            build=tuple(self._named(line, closure) for line in build),
            inputs=tuple(self._named(one, closure) for one in inputs),
            needs=closure.needs,
        )

    def _calls(self, way: Variant) -> Sequence[ModuleCall]:
        call = self._recording.call_of(way.path)
        if call is None:
            raise NotTextError(f"what {way.path or 'the model'} is called with, which was not seen")
        return self._recording.calls[way.path] if way.every_call else (call,)

    def _call_text(self, call: ModuleCall, way: Variant, texts: Literals) -> str:
        if way.numbers is NumberFidelity.SIMPLE or call.stored is None:
            return texts.call(call.args, call.kwargs, way.numbers)
        args, kwargs = self._values.filled(call.stored, call.args, call.kwargs)
        return texts.call(args, kwargs, way.numbers)

    def _demands_a_parameter(self, way: Variant) -> bool:
        return bool(way.path) and self._case.settings.wrapper != "none" and not self._parameters.get(way.path, 1)

    def _texts(self) -> Literals:
        texts = Literals(
            at_hand=self._sources.own,
            called=self._placeholder,
            construction=lambda name: self._constructed(name, texts),
            with_keywords=self._is_dataclass,
        )
        return texts

    def _placeholder(self, own: Own) -> str:
        if own not in self._owns:
            self._owns.append(own)
        return f"\0{self._owns.index(own)}\0"

    def _named(self, text: str, closure: Closure) -> str:
        for number, own in enumerate(self._owns):
            text = text.replace(f"\0{number}\0", closure.names.get(own, own.name))
        return text

    def _is_dataclass(self, own: Own) -> bool:
        tree = parsed(self._sources[own.module].text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == own.name:
                return any("dataclass" in ast.unparse(one) for one in node.decorator_list)
        return False

    def _constructed(self, name: str, texts: Literals) -> str:
        made = self._recording.constructions.get(name)
        if made is None:
            raise NotTextError(f"the arguments of {name}, which were not seen")
        module, _, kind = name.partition("#")[0].rpartition(".")
        own = self._sources.own(name)
        if own is not None:
            called = texts.name(f"{own.module}:{name.partition('#')[0][len(own.module) + 1 :]}")
        else:
            called = texts.name(f"{module}:{kind}")
        given = [texts.argument(one) for one in made.args]
        given += [f"{key}={texts.argument(one)}" for key, one in made.kwargs.items()]
        return f"{called}({', '.join(given)})"

    def _building(self, way: Variant, texts: Literals) -> Iterator[str]:
        if not way.by_factory:
            built_as = way.construction or self._built_as.get(way.path, "")
            if not built_as:
                raise NotTextError(f"how {way.path or 'the model'} is built, which was not seen")
            yield f"model = {self._constructed(built_as, texts)}"
            return
        called = texts.name(_with_colon(self._case.source.factory))
        if "\0" not in called:
            raise NotTextError(f"{self._case.source.factory}, whose source is not at hand")
        made = (
            f"{called}()"
            if self._is_callable(self._owns[-1])
            else f"{called} if isinstance({called}, torch.nn.Module) else {called}()"
        )
        whole = f"({made})" if " if " in made else made
        yield f"model = {whole}.get_submodule({way.path!r})" if way.path else f"model = {made}"

    def _is_callable(self, own: Own) -> bool:
        tree = parsed(self._sources[own.module].text)
        kinds = ast.FunctionDef | ast.ClassDef
        return not any(
            isinstance(node, ast.Assign)
            and any(isinstance(one, ast.Name) and one.id == own.name for one in node.targets)
            for node in tree.body
        ) or any(isinstance(node, kinds) and node.name == own.name for node in tree.body)

    def _edits(self, way: Variant, texts: Literals, build: list[str]) -> Iterator[str]:
        """Adds the edits below the module to `build`; yields the helpers they need."""
        edits = self._case.edits
        for path in edits.stand_ins:
            inner = _below(path, way.path)
            if inner:
                build.append(f"stand_in(model.get_submodule({inner!r}), {self._output(path, texts)})")
                yield STAND_IN
        # Last, and the innermost first: a list that is cut is numbered anew.
        for path, places in sorted(edits.cuts, key=lambda cut: -cut[0].count(".")):
            inner = _below(path, way.path)
            if inner:
                build.append(f"cut(model.get_submodule({inner!r}), {sorted(places)})")
                yield CUT

    def _output(self, path: str, texts: Literals) -> str:
        calls = self._recording.calls.get(path, ())
        output = next((call.output for call in calls if call.output is not None), None)
        if output is None:
            return "lambda zero, first, *rest: first + zero"  # a guess: it was never seen to give anything
        return f"lambda zero, *args: {texts.value(_with_gradients(output))}"

    def _closure(self) -> Closure:
        closure = source_closure(self._sources, self._owns, reserved=RESERVED)
        if closure.problems:
            raise NotTextError(closure.problems[0])
        missing = [name for name in closure.needs if name in self._sources]
        if missing:
            raise NotTextError(f"{missing[0]}, which has parts without a source")
        return closure

    def _imported(self) -> Closure:
        if not self._owns:
            raise NotTextError("your own code, of which nothing is needed")
        folders = [str(folder) for folder in self._sources.folders]
        lines = ["import sys", "", f"sys.path[:0] = {folders}"]
        lines += [f"from {own.module} import {own.name}  # noqa: E402" for own in self._owns]
        modules = tuple(dict.fromkeys(own.module.partition(".")[0] for own in self._owns))
        return Closure(imports=(), body="\n".join(lines), names={own: own.name for own in self._owns}, needs=modules)


def _with_colon(spec: str) -> str:
    """Returns "module:name" for "path/module.py:name" too."""
    where, _, name = spec.rpartition(":")
    return f"{where.rpartition('/')[2].removesuffix('.py')}:{name}" if where.endswith(".py") else spec


def _below(path: str, top: str) -> str:
    """Returns the path of a module within another one, "" where it is none of its own."""
    if not top:
        return path
    return path[len(top) + 1 :] if path.startswith(f"{top}.") else ""


def _with_gradients(structure: Mapping[str, Any]) -> dict[str, Any]:
    """Marks the floating tensors of an output that carry gradients."""
    if structure["kind"] == "tensor" and structure.get("grad"):
        return {**structure, "plus": "zero", "grad": False}
    if "items" in structure:
        return {**structure, "items": [_with_gradients(one) for one in structure["items"]]}
    return dict(structure)
