"""Programs whose comments say where ranks stood: a Parting and what is expected of it, read out of the markers.

`# A0`, `# H1`, `# T2`: level 0, 1, 2 of the stack at the agreed call, here and there, outermost first; `H1!`: library
code called level 1; `H0~`: library code stands below; `first` and `also` mark the expected decisions; `caught` a line
of the exception that was caught. A line `### name.py` begins another file. Without an H marker the rank has ended.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.divergence import DivergenceQuery, PointKind, ProgramPoint
from diagnostics.static.program.source_file import SourceStore

FOLDER = "/job"
LIBRARY = Frame(file="/env/lib/python3.11/site-packages/lightning/trainer.py", line=10, function="Trainer.fit")
_MARK = re.compile(r"#\s*((?:(?:[AHT]\d[!~]*|first|also|caught)\s*)+)$")
_OP = re.compile(r"\bdist\.(\w+)\(")


@dataclass
class Marked:
    """What a marked program says."""

    sources: SourceStore
    parting: DivergenceQuery
    first: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    marks: dict[str, list[tuple[int, str, Frame, str]]] = field(default_factory=dict)


def marked(text: str, *, here: PointKind | None = None, there: PointKind | None = None) -> Marked:
    """Returns the parting that a marked program shows."""
    files = _files(text)
    marks: dict[str, list[tuple[int, str, Frame, str]]] = {"A": [], "H": [], "T": []}
    found: dict[str, list[str]] = {"first": [], "also": [], "caught": []}
    caught: list[Frame] = []
    for path, lines in files.items():
        tree = ast.parse("\n".join(lines))
        for number, line in enumerate(lines, 1):
            match = _MARK.search(line)
            for word in match[1].split() if match else ():
                frame = Frame(file=path, line=number, function=_function(tree, number))
                if word in found:
                    found[word].append(f"{path.removeprefix(FOLDER + '/')}:{number}")
                    if word == "caught":
                        caught.append(frame)
                else:
                    op = _OP.search(line)
                    marks[word[0]].append((int(word[1]), word[2:], frame, op[1] if op else ""))
    parting = DivergenceQuery(
        agreed=_place(marks["A"], PointKind.CALL) if marks["A"] else None,
        here=(0,),
        here_at=_place(marks["H"], here),
        there=(1,),
        there_at=_place(marks["T"], there),
        caught=(tuple(reversed(caught)),) if caught else (),
    )
    saved = {path: "\n".join(lines) + "\n" for path, lines in files.items()}
    return Marked(SourceStore(FOLDER, saved, frozenset()), parting, tuple(found["first"]), tuple(found["also"]), marks)


def _files(text: str) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    name = "train.py"
    for line in text.strip("\n").splitlines():
        if line.startswith("### "):
            name = line[4:].strip()
        else:
            files.setdefault(f"{FOLDER}/{name}", []).append(line)
    return files


def _function(tree: ast.Module, line: int) -> str:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [n for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno <= line <= (n.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno).name if around else "<module>"


def _place(marks: list[tuple[int, str, Frame, str]], way: PointKind | None) -> ProgramPoint:
    path: list[Frame] = []
    op = ""
    for _, library, frame, called in sorted(marks, key=lambda mark: mark[0]):
        path += [LIBRARY] * ("!" in library)
        path.append(frame)
        path += [LIBRARY] * ("~" in library)
        op = called
    return ProgramPoint(way=way or (PointKind.CALL if path else PointKind.ENDED), op=op, path=tuple(reversed(path)))
