"""The files of an audited project: their modules, what names in them mean, and which functions calls run. Pure.

On the functions, graphs and call targets that the watched run uses; here all files are known, so that imports are
resolved exactly, and nothing is guessed from a method's name alone.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar

from diagnostics.analysis.audited_file import AuditedFile, FileKind
from diagnostics.analysis.flow_calls import COMMON_METHODS, MOST_TARGETS, Program
from diagnostics.analysis.flow_files import Callable_, Function, last_name
from diagnostics.analysis.known_names import canonical
from diagnostics.analysis.source_files import SourceFile, Sources
from diagnostics.analysis.syntax_walk import walk

Fact = TypeVar("Fact")
# A file with none of these words takes no part in what crosses files.
DEEP_WORDS = frozenset(
    [
        "rank",
        "local_rank",
        "world_size",
        "DataLoader",
        "DistributedDataParallel",
        "DDP",
        "FSDP",
        "FullyShardedDataParallel",
        "accelerator",
        "Accelerator",
        "fabric",
        "Fabric",
        "is_main_process",
        "rank_zero_only",
        "barrier",
        "all_reduce",
        "init_process_group",
        "deepspeed",
        "horovod",
        "hvd",
        "LightningModule",
        "idist",
        "set_epoch",
        "new_group",
        "all_gather",
        "is_global_zero",
    ]
)
FEW_FILES = 150  # so many are looked at whole
FEW_TO_GUESS = 25  # in so few, a method of a name that few classes have is taken for the one meant
MOST_EXPANDED = 5
# Methods of modules that give back the module they are called on.
_GIVES_ITSELF = frozenset(
    ["to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_"]
)
_LIBRARIES = frozenset(["torch", "numpy", "yaml", "wandb", "accelerate", "lightning", "transformers", "datasets"])


class Project(Program):
    """All audited files. `files` are those with Python that may take part in distributed training."""

    def __init__(self, audited: Iterable[AuditedFile]) -> None:
        self.audited = tuple(audited)
        self.python = tuple(one for one in self.audited if one.kind is FileKind.PYTHON and one.tree is not None)
        super().__init__(Sources("", {}), ())
        self._names: dict[int, str] = {}
        self._functions_in: dict[str, tuple[Function, ...]] = {}
        self._bound: dict[str, dict[str, str]] = {}
        self._facts: dict[Any, Any] = {}

    def fact(self, kind: Callable[[Project], Fact]) -> Fact:
        """Returns what `kind` makes of the project, made once: what several rules ask."""
        if kind not in self._facts:
            self._facts[kind] = kind(self)
        found: Fact = self._facts[kind]
        return found

    # Files and functions

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files that are looked at together, by the path shown."""
        few = len(self.python) <= FEW_FILES
        return {one.shown: one for one in self.python if few or _is_deep(one)}

    @cached_property
    def by_path(self) -> dict[str, AuditedFile]:
        """Every audited file by the path shown."""
        return {one.shown: one for one in self.audited}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function of `files`."""
        return tuple(one for file in self.files.values() for one in self.functions_in(file))

    def functions_in(self, file: SourceFile) -> tuple[Function, ...]:
        """Returns the functions of one file, its module first."""
        shown = str(getattr(file, "shown", file.path))
        if shown not in self._functions_in:
            self._functions_in[shown] = tuple(self._functions(shown, file)) if file.tree is not None else ()
        return self._functions_in[shown]

    def module_of(self, file: SourceFile) -> Function:
        """Returns a file's module as the function that runs its top level."""
        return self.functions_in(file)[0]

    def file_with(self, function: Function) -> AuditedFile:
        """Returns the audited file a function is in."""
        return self.by_path[function.file]

    def calls_in(self, file: SourceFile) -> Iterator[tuple[ast.Call, Function]]:
        """Yields every call of one file with the function it is in."""
        for function in self.functions_in(file):
            for node in function.own_nodes:
                if isinstance(node, ast.Call):
                    yield node, function

    @cached_property
    def calls_by_canonical(self) -> dict[str, list[tuple[ast.Call, Function]]]:
        """All calls in `files` by the full name of what is called."""
        found: dict[str, list[tuple[ast.Call, Function]]] = defaultdict(list)
        for file in self.files.values():
            for call, function in self.calls_in(file):
                name = self.name(call.func, function)
                if name:
                    found[name].append((call, function))
        return found

    # Names

    def name(self, value: ast.AST, function: Function) -> str:
        """Returns the full dotted name of what an expression names: "torch.distributed.barrier"; "" where unknown.

        What the project defines has its module's name in front: "train.build_loader".
        """
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self._name(value, function, 6)
        return known

    def called(self, value: ast.AST, function: Function) -> str:
        """Returns the full name of what a call calls, "" of anything else."""
        return self.name(value.func, function) if isinstance(value, ast.Call) else ""

    def _name(self, value: ast.AST, function: Function, rounds: int) -> str:
        if rounds < 0:
            return ""
        if isinstance(value, ast.Attribute):
            base = self._name(value.value, function, rounds)
            return self.expanded(f"{base}.{value.attr}") if base else ""
        if not isinstance(value, ast.Name):
            return ""
        scope: Function | None = function
        while scope is not None and scope.name != "<module>":
            if value.id in scope.parameters:
                return ""
            if value.id in scope.assigned:
                values = scope.assigned[value.id]
                alias = len(values) == 1 and isinstance(values[0], (ast.Name, ast.Attribute)) and values[0] is not value
                return self._name(values[0], scope.outer or scope, rounds - 1) if alias else ""
            if any(one.owner is None for one in self._inside.get((id(scope), value.id), ())):
                return ""
            scope = scope.outer
        return self._module_name(value.id, function, rounds)

    def _module_name(self, name: str, function: Function, rounds: int) -> str:
        bound = self.bound(function.file)
        if name in bound:
            return self.expanded(bound[name])
        module = self.module_of(self.by_path[function.file])
        values = module.assigned.get(name, ())
        if len(values) == 1 and isinstance(values[0], (ast.Name, ast.Attribute)):
            return self._name(values[0], module, rounds - 1)
        if values:
            return f"{self.dotted_of(function.file)}.{name}"
        if name == "dist":  # from a star import, or handed over
            return "torch.distributed"
        return f"{self.dotted_of(function.file)}.{name}" if name in self._defined.get(function.file, ()) else name

    def bound(self, file: str) -> dict[str, str]:
        """Returns what the imports of a file bind: local name to full dotted name."""
        if file not in self._bound:
            tree = self.by_path[file].tree
            self._bound[file] = dict(self._bindings(file, tree)) if tree is not None else {}
        return self._bound[file]

    def _bindings(self, file: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
        for node in walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or whole, whole
            elif isinstance(node, ast.ImportFrom):
                home = self._home(file, node)
                for alias in node.names:
                    if alias.name != "*":
                        yield alias.asname or alias.name, f"{home}.{alias.name}".strip(".")

    def _home(self, file: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.dotted_of(file).split(".")
        if PurePath(file).name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])

    def expanded(self, name: str) -> str:
        """Returns the full name behind a re-export: what a module of the project imports under that name."""
        for _ in range(MOST_EXPANDED):
            name = canonical(name)
            module, _, rest = name.rpartition(".")
            file = self.file_of_module.get(module, "") if module and self._may_be_ours(module) else ""
            if not file or rest not in self.bound(file):
                break
            behind = self.bound(file)[rest]
            if behind == name:
                break
            name = behind
        return name

    def _may_be_ours(self, module: str) -> bool:
        return module in self.file_of_module

    # Modules

    @cached_property
    def file_of_module(self) -> dict[str, str]:
        """The path shown by full module name; of several files with one name the first."""
        found: dict[str, str] = {}
        for one in self.python:
            found.setdefault(self.dotted_of(one.shown), one.shown)
        return found

    def dotted_of(self, file: str) -> str:
        """Returns a file's module name: from the topmost folder that is a package on."""
        return self._dotted[file]

    @cached_property
    def _dotted(self) -> dict[str, str]:
        packages = {str(PurePath(one.shown).parent) for one in self.python if PurePath(one.shown).name == "__init__.py"}
        found = {}
        for one in self.python:
            path = PurePath(one.shown)
            parts = [] if path.name == "__init__.py" else [path.stem]
            folder = path.parent
            while folder.name and str(folder) in packages:
                parts.append(folder.name)
                folder = folder.parent
            found[one.shown] = ".".join(reversed([part for part in parts if part])) or path.stem
        return found

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        """Paths by the last part of the module they are."""
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.python:
            path = PurePath(one.shown)
            found[path.parent.name if path.name == "__init__.py" else path.stem].append(one.shown)
        return found

    def _module(self, file: str, module: str) -> str:
        """Returns the file that an absolute import of `module` in `file` means, "" where it is not the project's."""
        tail = module.split(".")
        fit = []
        for shown in self._by_tail.get(tail[-1], ()):
            parts = PurePath(shown).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if list(parts[-len(tail) :]) == tail:
                fit.append((shown, parts[: len(parts) - len(tail)]))
        here = PurePath(file).parent.parts
        above = [(len(root), shown) for shown, root in fit if here[: len(root)] == root]
        if above:
            return max(above)[1]
        foreign = tail[0] in sys.stdlib_module_names or tail[0] in _LIBRARIES
        return fit[0][0] if len(fit) == 1 and not foreign else ""

    def _read_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
        tree = self.by_path[file].tree
        for node in walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found = self._file_of(file, alias.name)
                    if found:
                        yield alias.asname or alias.name.partition(".")[0], (found, alias.name)
            elif isinstance(node, ast.ImportFrom):
                home = self._home(file, node)
                for alias in node.names:
                    inside = self._file_of(file, f"{home}.{alias.name}".strip("."))
                    name = alias.name
                    found = inside or self._file_of(file, home)
                    if found and not inside:
                        found, name = self._behind(found, name)
                    if found:
                        yield alias.asname or alias.name, (found, name)

    def _file_of(self, file: str, module: str) -> str:
        return (self.file_of_module.get(module, "") or self._module(file, module)) if module else ""

    def _behind(self, file: str, name: str, rounds: int = MOST_EXPANDED) -> tuple[str, str]:
        """Returns (file, name) of what a module's own import of `name` brings in."""
        if rounds and name not in self._defined.get(file, ()):
            target = self.bound(file).get(name, "")
            module, _, rest = target.rpartition(".")
            found = self._file_of(file, module) if target else ""
            if found and found != file:
                return self._behind(found, rest, rounds - 1)
        return file, name

    @cached_property
    def _defined(self) -> dict[str, frozenset[str]]:
        """Names of the functions and classes at each file's top level."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return {
            one.shown: frozenset(node.name for node in walk(one.tree) if isinstance(node, kinds))
            for one in self.python
            if one.tree is not None
        }

    # Calls

    @cached_property
    def _inside(self) -> dict[tuple[int, str], list[Function]]:
        """Functions by (identity of the function around them, last part of their name)."""
        found: dict[tuple[int, str], list[Function]] = defaultdict(list)
        for one in self.functions:
            if one.outer is not None:
                found[id(one.outer), one.name.rpartition(".")[2]].append(one)
        return found

    @cached_property
    def _made_in(self) -> dict[str, list[Function]]:
        """Functions defined inside functions of this name: what a decorator gives back."""
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            scope = one.outer
            while scope is not None:
                found[scope.name.rpartition(".")[2]].append(one)
                scope = scope.outer
        return found

    @cached_property
    def _subclasses(self) -> dict[str, list[tuple[str, ast.ClassDef]]]:
        """(file, class) by the last part of a base's name."""
        found: dict[str, list[tuple[str, ast.ClassDef]]] = defaultdict(list)
        for several in self.classes.values():
            for file, kind in several:
                for base in kind.bases:
                    found[last_name(base)].append((file, kind))
        return found

    @cached_property
    def decorated_with(self) -> dict[str, list[Function]]:
        """Functions by the last part of the name of each of their decorators."""
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            for decorator in getattr(one.syntax, "decorator_list", ()):
                found[last_name(decorator)].append(one)
        return found

    def _decorated(self, function: Function) -> Iterator[Function]:
        for decorator in getattr(function.syntax, "decorator_list", ()):
            made = [one for one in self._made_in.get(last_name(decorator), ()) if not one.name.endswith("<lambda>")]
            outers = {id(one.outer) for one in made}
            inner = [one for one in made if id(one) not in outers and one.file == self._file_named(decorator, function)]
            if inner:
                yield from inner[:MOST_TARGETS]
                return
        yield function

    def _file_named(self, value: ast.expr, function: Function) -> str:
        """Returns the file that defines what a decorator names, as far as imports say."""
        base = value.func if isinstance(value, ast.Call) else value
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return ""
        return self.imported(base.id, function.file)[0] or function.file

    def _passed(self, name: str, function: Function, rounds: int) -> Iterator[Function]:
        for value, caller in self.arguments(name, function):
            yield from self.meant(value, caller, rounds - 1)
        if function.parameters[:1] == (name,):
            yield from self.decorated_with.get(function.name.rpartition(".")[2], ())[: MOST_TARGETS * 2]

    def _methods(
        self, kind: ast.ClassDef, names: tuple[str, ...], *, below: bool = False, depth: int = 4
    ) -> Iterator[Function]:
        own = [node for node in kind.body if isinstance(node, Callable_) and getattr(node, "name", "") in names]
        for node in own:
            if id(node) in self.by_syntax:
                yield from self._decorated(self.by_syntax[id(node)])
        if not own and depth:
            for parent in self.bases(kind):
                yield from self._methods(parent, names, depth=depth - 1)
        for _, one in self._subclasses.get(kind.name, ())[:20] if below else ():
            if one is not kind and kind in self.bases(one):
                yield from self._methods(one, names, depth=0)

    def bases(self, kind: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """Returns the project's classes that a class inherits from, as its file's imports say."""
        file = self._file_of_class.get(id(kind), "")
        found = [self.class_named(last_name(base), base, file) for base in kind.bases] if file else []
        return tuple(one for one in found if one is not None and one is not kind)

    def class_named(self, name: str, value: ast.expr, file: str) -> ast.ClassDef | None:
        """Returns the class that an expression in a file names."""
        base = value
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        where, original = self.imported(base.id, file) if isinstance(base, ast.Name) else ("", name)
        wanted = original.rpartition(".")[2] if base is value and where else name
        return next((one for path, one in self.classes.get(wanted, ()) if path == (where or file)), None)

    def module_of_class(self, kind: ast.ClassDef) -> Function | None:
        """Returns the module that a class is defined in."""
        file = self._file_of_class.get(id(kind), "")
        return self.module_of(self.by_path[file]) if file else None

    @cached_property
    def _file_of_class(self) -> dict[int, str]:
        return {id(kind): file for several in self.classes.values() for file, kind in several}

    def _attribute(self, value: ast.Attribute, function: Function, rounds: int) -> Iterator[Function]:
        base, name = value.value, value.attr
        if isinstance(base, ast.Name) and base.id in ("self", "cls") and (kind := self.class_of(function)) is not None:
            found = list(self._methods(kind, (name,), below=True))
            yield from found
            for assigned, where in self.class_attributes(kind, name) if not found else ():
                yield from self.meant(assigned, where, rounds - 1)
            return
        if isinstance(base, ast.Call) and last_name(base.func) == "super" and (kind := self.class_of(function)):
            for parent in self.bases(kind):
                yield from self._methods(parent, (name,))
            return
        file = self._module_meant(base, function)
        if file:
            file, original = self._behind(file, name)
            for named in self.by_name.get(original, ()):
                if named.file == file and named.owner is None and named.outer is self.module_of(self.by_path[file]):
                    yield from self._decorated(named)
            for kind_file, made in self.classes.get(original, ()):
                if kind_file == file:
                    yield from self._methods(made, ("__init__",))
            return
        kinds = list(self.kinds(base, function, rounds - 1))
        for one_kind in kinds:
            yield from self._methods(one_kind, (name,), below=True)
        if not kinds and len(self.python) <= FEW_TO_GUESS and name not in COMMON_METHODS:
            methods = [one for one in self.by_name.get(name, ()) if one.owner is not None]
            yield from methods if len(methods) <= MOST_TARGETS else ()

    def _module_meant(self, value: ast.expr, function: Function) -> str:
        """Returns the project's file that an expression names as a module."""
        if isinstance(value, ast.Name):
            file, original = self.imported(value.id, function.file)
            return file if file and original.rpartition(".")[2] not in self._defined.get(file, ()) else ""
        name = self.name(value, function)
        return self._file_of(function.file, name) if name and "." in name else ""

    def class_attributes(self, kind: ast.ClassDef, name: str, depth: int = 3) -> list[tuple[ast.expr, Function]]:
        """Returns what `self.name` is assigned in a class or its bases, with the method that does it."""
        found = [(value, where) for value, where in self.attributes.get(name, ()) if self.class_of(where) is kind]
        module = self.module_of_class(kind)
        if module is not None:
            own = [node for node in kind.body if isinstance(node, ast.Assign)]
            found += [(node.value, module) for node in own if any(last_name(one) == name for one in node.targets)]
        if not found and depth:
            for parent in self.bases(kind):
                found += self.class_attributes(parent, name, depth - 1)
        return found

    def attribute_key(self, value: ast.Attribute, function: Function) -> str:
        """Returns the class that assigns the attribute, and its name; "" where it is not known whose it is."""
        known = self._keys.get(id(value))
        if known is None:
            self._keys[id(value)] = ""  # while it is being looked at
            known = self._keys[id(value)] = self._attribute_key(value, function)
        return known

    @cached_property
    def _keys(self) -> dict[int, str]:
        return {}

    def _attribute_key(self, value: ast.Attribute, function: Function) -> str:
        base = value.value
        if isinstance(base, ast.Name) and base.id in ("self", "cls"):
            kind = self.class_of(function)
        else:
            kind = next(self.kinds(base, function, 2), None)
        if kind is None:
            # An object of unknown class: its attribute is the one of this name where only one class has one.
            holders = {id(one): one for _, where in self.attributes.get(value.attr, ())
                       if (one := self.class_of(where)) is not None}  # fmt: skip
            tops = {id(self._holder(one, value.attr)) for one in holders.values()}
            kind = next(iter(holders.values())) if len(tops) == 1 else None
        return f"{id(self._holder(kind, value.attr))}.{value.attr}" if kind is not None else ""

    def _holder(self, kind: ast.ClassDef, name: str, depth: int = 3) -> ast.ClassDef:
        """Returns the topmost class of its bases that assigns `self.name`, else the class itself."""
        for parent in self.bases(kind) if depth else ():
            if self.class_attributes(parent, name):
                return self._holder(parent, name, depth - 1)
        return kind

    def agrees(self, call: ast.Call, function: Function) -> bool:
        """Whether a call is a method by which Accelerate, Fabric or Lightning make a value the same on every rank."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in (
            "reduce",
            "gather",
            "all_gather",
            "broadcast",
        ):
            return False
        owner = last_name(call.func.value).lstrip("_")
        return owner in ("accelerator", "fabric", "strategy") or bool(
            self.name(call.func, function).startswith("idist.")
        )

    def attribute_values(self, value: ast.Attribute, function: Function) -> list[tuple[ast.expr, Function]]:
        """Returns what the attribute is assigned in the class of the object, as far as that is known."""
        base = value.value
        own = isinstance(base, ast.Name) and base.id in ("self", "cls")
        kind = self.class_of(function) if own else next(self.kinds(base, function, 2), None)
        return self.class_attributes(kind, value.attr) if kind is not None else []

    def kinds(self, value: ast.expr, function: Function, rounds: int = 3) -> Iterator[ast.ClassDef]:
        """Yields the project's classes that a value may be an object of, through wrappers like DDP(Net())."""
        if rounds < 0:
            return
        if isinstance(value, ast.Name) and value.id == "self" and (kind := self.class_of(function)) is not None:
            yield kind
        elif isinstance(value, ast.Call):
            made = self.class_named(last_name(value.func), value.func, function.file)
            if made is not None:
                yield made
                return
            if isinstance(value.func, ast.Attribute) and value.func.attr in _GIVES_ITSELF:
                yield from self.kinds(value.func.value, function, rounds)
                return
            for target in self.targets(value, function):
                for node in target.own_nodes:
                    if isinstance(node, ast.Return) and node.value is not None and rounds:
                        yield from self.kinds(node.value, target, rounds - 2)
            for argument in value.args[:1]:
                yield from self.kinds(argument, function, rounds - 1)
        elif isinstance(value, ast.Name):
            yield from self._kinds_of_name(value.id, function, rounds)
        elif isinstance(value, ast.Attribute):
            for holder in self.kinds(value.value, function, rounds - 1):
                for assigned, where in self.class_attributes(holder, value.attr)[:6]:
                    yield from self.kinds(assigned, where, rounds - 1)

    def _kinds_of_name(self, name: str, function: Function, rounds: int) -> Iterator[ast.ClassDef]:
        scope: Function | None = function
        while scope is not None:
            if name in scope.assigned:
                for one in scope.assigned[name][:6]:
                    yield from self.kinds(one, scope, rounds - 1)
                return
            if name in scope.parameters:
                annotation = _annotation(scope, name)
                made = self.class_named(last_name(annotation), annotation, scope.file) if annotation else None
                if made is not None:
                    yield made
                elif annotation is None or not self._is_ours(annotation, scope):
                    yield from self._kinds_passed(name, scope, rounds)
                return
            scope = scope.outer

    def _is_ours(self, annotation: ast.expr, function: Function) -> bool:
        """Whether a class stands in a module of the project that is not looked at: what it is, is not guessed."""
        return self.name(annotation, function).rpartition(".")[0] in self.file_of_module

    def arguments(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Function]]:
        """Yields what callers pass for a parameter, with the function that calls."""
        at = function.parameters.index(name) - (1 if function.owner is not None else 0)
        for call, caller in self.callers(function)[:8]:
            yield from ((one.value, caller) for one in call.keywords if one.arg == name)
            if 0 <= at < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args[: at + 1]):
                yield call.args[at], caller

    def callers(self, function: Function) -> list[tuple[ast.Call, Function]]:
        """Returns the calls that may run a function; those of an `__init__` make its class."""
        known = self._callers.get(id(function))
        if known is None:
            called = function.name.rpartition(".")[2]
            keys = [function.owner.name] if called == "__init__" and function.owner is not None else [called]
            keys += ["__init__"] if called == "__init__" else []
            if called in ("__call__", "forward") and function.owner is not None:
                keys += self._names_of_objects(function.owner)
            self._callers[id(function)] = []  # while it is being looked at
            found = [
                one
                for key in keys
                for one in self.calls_by_name.get(key, ())[:200]
                if function in self.targets(one[0], one[1])
            ]
            known = self._callers[id(function)] = found
        return known

    def _names_of_objects(self, kind: ast.ClassDef) -> list[str]:
        """Returns the names that objects of a class are given: `save` of `save = Saver()`."""
        made = {id(call) for call, _ in self.calls_by_name.get(kind.name, ())[:50]}
        holders = {id(function): function for _, function in self.calls_by_name.get(kind.name, ())[:50]}
        found = [
            last_name(target)
            for function in holders.values()
            for node in function.own_nodes
            if isinstance(node, ast.Assign) and id(node.value) in made
            for target in node.targets
        ]
        return list(dict.fromkeys(name for name in found if name))

    @cached_property
    def _callers(self) -> dict[int, list[tuple[ast.Call, Function]]]:
        return {}

    def targets(self, call: ast.Call, function: Function) -> tuple[Function, ...]:
        """Returns the project's functions that `call` in `function` may run; asked once a call."""
        known = self._targets.get(id(call))
        if known is None:
            self._targets[id(call)] = ()  # while it is being looked at
            known = self._targets[id(call)] = super().targets(call, function)
        return known

    @cached_property
    def _targets(self) -> dict[int, tuple[Function, ...]]:
        return {}


def _is_deep(file: AuditedFile) -> bool:
    # Not the word "distributed": it stands in every licence text.
    return bool(file.words & DEEP_WORDS) or "torch.distributed" in file.text or "import distributed" in file.text


def _annotation(function: Function, name: str) -> ast.expr | None:
    """Returns the class in a parameter's annotation, also of `Net | None` and "Net"."""
    if isinstance(function.syntax, (ast.Module, ast.Lambda)):
        return None
    arguments = function.syntax.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if one.arg == name and one.annotation is not None:
            value = one.annotation
            if isinstance(value, ast.BinOp):
                value = value.left
            if isinstance(value, ast.Subscript) and last_name(value.value) == "Optional":
                value = value.slice
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.isidentifier():
                return ast.Name(value.value, ast.Load())
            return value if isinstance(value, (ast.Name, ast.Attribute)) else None
    return None
