"""Labels in the order of a table are paired by position with file names that are sorted as texts.

What it does: flags `sorted(os.listdir(...))`, also of glob() and iterdir(), without a key, whose entry number i is
taken together with entry number i of what a table's rows give, in a program that numbers these files as wide as the
number comes: `f"clip_{i}.npy"`.

Why it matters: as texts, clip_10 stands before clip_2. From the second file on nearly each has the label of another
one: the loss falls by learning by heart, and validation stays at chance.

Bad:

    self.files = sorted(os.listdir(folder))
    self.words = [row["word"] for row in csv.DictReader(f)]
    ...
    return load(self.files[i]), self.words[i]

Good:

    self.rows = list(csv.DictReader(f))
    return load(f"clip_{self.rows[i]['clip']}.npy"), self.rows[i]["word"]       # or f"clip_{i:05d}.npy" where written

What it cannot see: files that another program has written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A387"
NAME = "labels-by-sorted-names"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("listdir", "glob", "iglob", "iterdir", "scandir")
CHECKLIST = "files and their labels are joined by name"
_LISTS = frozenset([*WORDS, "rglob"])
_ROWS = frozenset(["DictReader", "reader", "read_csv", "readlines", "loadtxt", "genfromtxt", "read_text", "splitlines",
                   "read_table", "read_json"])  # fmt: skip
_WRITES = frozenset(["save", "open", "imwrite", "imsave", "write_bytes", "write_text", "savez", "to_csv", "write",
                     "savez_compressed", "dump", "join"])  # fmt: skip
_OF_RUNS = re.compile(r"epoch|step|ckpt|checkpoint|iter|model|best|last", re.IGNORECASE)
_ENDS = re.compile(r"\.\w{1,5}$")
_ORDERS = frozenset(["sort", "sort_values", "sorted", "argsort", "natsorted", "sort_index"])
Written = tuple[ast.JoinedStr, Function, frozenset[str]]


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the sorted names that are paired with a table's rows."""
    if file.is_test or not (written := _numbered(project)):
        return
    for call, function in project.calls_in(file):
        if not _sorts_names(call, function) or (name := _name_of(call, function)) is None:
            continue
        around = _around(function, project)
        for table, value in _tables(around):
            paired = _paired(name, table, around)
            link = _written_there(call, around, written)
            if paired is None or link is None or _is_ordered(table, value, around):
                continue
            node, where, _ = link
            yield violation(
                file,
                call,
                f"'{name}' is sorted as text, where {ast.unparse(node)[1:]} of number 10 stands before number 2, and "
                f"is paired by position with '{table}', in the table's order: most files get another one's label",
                "find each file by the name or number that its row holds, or write the numbers in one width: {i:05d}",
                steps=(
                    step(project.file_with(where), node, "the number is written as wide as it comes"),
                    step(file, value, "the table's order"),
                    step(file, paired, "paired by position"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


@per_project
def _numbered(project: Project) -> Sequence[Written]:
    """Returns the names of files with a counter as wide as it comes, with the texts of the path around each."""
    found: list[Written] = []
    for function in project.functions:
        counters = {one.id for loop in function.nodes_of((ast.For, ast.comprehension))
                    if _counts(loop.iter)  # type: ignore[attr-defined]
                    for one in walk(loop.target) if isinstance(one, ast.Name)}  # type: ignore[attr-defined]  # fmt: skip
        if not counters:
            continue
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call) or last_name(call.func) not in _WRITES:
                continue
            for node in walk(call):
                if isinstance(node, ast.JoinedStr) and _is_bare(node, counters):
                    texts = frozenset(str(one.value) for one in walk(call) if isinstance(one, ast.Constant)
                                      and isinstance(one.value, str) and len(one.value) > 1)  # fmt: skip
                    found.append((node, function, texts))
    return tuple(found)


def _counts(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and last_name(value.func) in ("range", "enumerate", "trange")


def _is_bare(node: ast.JoinedStr, counters: set[str]) -> bool:
    """Whether a text is the name of a file whose one changing part is a counter without a width."""
    changing = [one for one in node.values if isinstance(one, ast.FormattedValue)]
    constants = [str(one.value) for one in node.values if isinstance(one, ast.Constant)]
    last = changing[-1] if changing else None
    bare = last is not None and isinstance(last.value, ast.Name) and last.value.id in counters
    return (
        bare
        and last is not None
        and last.format_spec is None
        and bool(constants)
        and bool(_ENDS.search(constants[-1]))
        and not _OF_RUNS.search(" ".join(constants))
    )


def _sorts_names(call: ast.Call, function: Function) -> bool:
    """Whether a call sorts a folder's names as texts."""
    if last_name(call.func) != "sorted" or not isinstance(call.func, ast.Name) or call.keywords or len(call.args) != 1:
        return False
    return any(isinstance(one, ast.Call) and last_name(one.func) in _LISTS for one in walk(call.args[0]))


def _name_of(call: ast.Call, function: Function) -> str | None:
    for node in function.nodes_of(ast.Assign):
        if (
            isinstance(node, ast.Assign)
            and node.value is call
            and isinstance(node.targets[0], (ast.Name, ast.Attribute))
        ):
            return ast.unparse(node.targets[0])
    return None


def _around(function: Function, project: Project) -> Sequence[Function]:
    """Returns the methods of a function's class, or the function alone."""
    kind = function.owner
    return tuple(project.functions_seeing(kind)) if kind is not None else (function,)


def _tables(around: Sequence[Function]) -> Iterator[tuple[str, ast.expr]]:
    """Yields (name, value) of what holds one entry for each row of a table."""
    for function in around:
        for node in function.nodes_of(ast.Assign):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Name, ast.Attribute)):
                calls = {last_name(one.func) for one in walk(node.value) if isinstance(one, ast.Call)}
                if calls & _ROWS and not isinstance(node.value, (ast.DictComp, ast.Dict)):
                    yield ast.unparse(node.targets[0]), node.value


def _is_ordered(table: str, value: ast.expr, around: Sequence[Function]) -> bool:
    """Whether a table is put into an order of its own."""
    if any(isinstance(one, ast.Call) and last_name(one.func) in _ORDERS for one in walk(value)):
        return True
    return any(
        isinstance(call, ast.Call) and last_name(call.func) in _ORDERS and table in ast.unparse(call)
        for function in around
        for call in function.nodes_of(ast.Call)
    )


def _paired(name: str, table: str, around: Sequence[Function]) -> ast.AST | None:
    """Returns where entries of both at one place are taken together."""
    for function in around:
        places: dict[str, list[ast.Subscript]] = {name: [], table: []}
        for node in function.nodes_of((ast.Subscript, ast.Call)):
            if isinstance(node, ast.Subscript):
                base = node.value
                while isinstance(base, ast.Attribute) and base.attr in ("iloc", "values", "loc"):
                    base = base.value
                if ast.unparse(base) in places and isinstance(node.slice, ast.Name):
                    places[ast.unparse(base)].append(node)
            elif isinstance(node, ast.Call) and last_name(node.func) == "zip":
                given = {ast.unparse(one) for one in node.args}
                if name in given and table in given:
                    return node
        for one in places[table]:
            if any(ast.unparse(one.slice) == ast.unparse(other.slice) for other in places[name]):
                return one
    return None


def _written_there(call: ast.Call, around: Sequence[Function], written: Sequence[Written]) -> Written | None:
    """Returns the names that are written into the folder that is listed, as a text of both paths says."""
    read = {str(node.value) for function in around for node in function.own_nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
    for one in written:
        ending = str(one[0].values[-1].value) if isinstance(one[0].values[-1], ast.Constant) else ""
        if one[2] & read or any(each.endswith(ending) and "*" in each for each in read):
            return one
    return None
