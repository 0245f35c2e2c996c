"""Files that are too deep, too slow, of no encoding, or notebooks and YAML in name only: one sentence each, and the
others are audited."""

from __future__ import annotations

import json
import time
from pathlib import Path

from rules_for_tests import WAITS, fails, python, rule

from diagnostics.audit.engine import audit
from diagnostics.audit.run import AuditOptions, run
from diagnostics.static.program.project_file import ProjectFile

GOOD = "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"
DEEP = "is nested so deeply that reading it may take the stack"
CHAIN = "+".join(["a"] * 900)
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))


def notebook(cells: object, **more: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, **more}).encode()


def code(source: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source}


HOSTILE = {
    "brackets.py": (b"x = " + b"[" * 100_000 + b"]" * 100_000, "line 1 is no Python 3: too many nested parentheses"),
    "open.py": (b"x = " + b"(" * 100_000, "line 1 is no Python 3: too many nested parentheses"),
    "sum.py": (f"import torch\nx = {CHAIN}\n".encode(), "line 2 is nested more than 250 deep, which no rule follows"),
    "longer_sum.py": (
        b"x = " + b"+".join([b"a"] * 20_000),
        "cannot be parsed: maximum recursion depth exceeded during ast construction",
    ),
    "lambdas.py": (b"x = " + b"lambda: " * 3000 + b"1", "cannot be parsed: MemoryError"),
    "null.py": (b"x = 1\0\n", "line 1 is no Python 3: source code string cannot contain null bytes"),
    "encoding.py": (b"# coding: latin-99\nx = 1\n", "cannot be decoded: unknown encoding: latin-99"),
    "bytes.py": (b"x = '\xe9'\n", "cannot be decoded: invalid or missing encoding declaration"),
    "large.py": (b"x = 1\n" * 2_000_000, "holds 11.4 MiB, more than the 2 MiB that are read"),
    "large.sh": (b"torchrun train.py || true\n" * 450_000, "holds 11.2 MiB, more than the 0.25 MiB that are read"),
    "large.yaml": (b"a: b\n" * 2_200_000, "holds 10.5 MiB, more than the 0.5 MiB that are read"),
    "large.ipynb": (
        notebook([code("x = 1\n" * 400_000)]),
        "holds 2.3 MiB of code, more than the 2 MiB that are read",
    ),
    "flow.yaml": (b"a: " + b"[" * 100_000 + b"]" * 100_000, DEEP),
    "block.yaml": ("".join(f"{' ' * i}a:\n" for i in range(900)).encode(), DEEP),
    "dashes.yaml": (b"- " * 100_000 + b"x\n", DEEP),
    "list.ipynb": (b"[]", "is no notebook: it holds no list of cells"),
    "numbers.ipynb": (notebook([1, None]), "is no notebook: it holds no list of cells"),
    "source.ipynb": (notebook([code(5)]), "is no notebook: the source of a cell is no text"),
    "sources.ipynb": (notebook([code([1, None])]), "is no notebook: the source of a cell is no text"),
    "language.ipynb": (notebook([], metadata={"kernelspec": {"language": "R"}}), "is no notebook: its language is R"),
    "deep.ipynb": (b'{"cells": ' + b"[" * 100_000, "is no notebook: it is nested too deeply"),
    "zeros.ipynb": (b"\0" * 100, "is no notebook: Expecting value: line 1 column 1 (char 0)"),
}
HARMLESS = {
    "bomb.yaml": BOMB.encode(),
    "circle.yaml": b"a: &a\n  b: *a\n  c: [*a, *a]\n",
    "root.yaml": b"&a [*a, {x: *a}]\n",
    "tags.yaml": b"a: !!python/object/apply:os.system ['touch ran']\n<<: !x y\n",
    "merge.yaml": b"a: &a {x: 1}\nb: {<<: [*a, *a]}\n",
    "no.yaml": b"a: \0\nb: \xff\n",
    "nan.ipynb": b'{"cells": [], "nbformat": NaN, "nbformat": 4, "metadata": []}',
    "latin.py": b"# coding: latin-1\nx = '\xe9'\n",
}


def test_each_hostile_file_gets_its_sentence_and_the_others_are_audited(tmp_path: Path) -> None:
    for name, (data, _) in HOSTILE.items():
        (tmp_path / name).write_bytes(data)
    for name, data in HARMLESS.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.py").write_text(GOOD)
    picture = {"cell_type": "code", "source": GOOD, "outputs": [{"data": {"image/png": "A" * 6_000_000}}]}
    (tmp_path / "pictures.ipynb").write_bytes(notebook([picture]))
    began = time.process_time()
    found = run(AuditOptions(paths=(tmp_path,), select=("A2",), jobs=1))
    assert time.process_time() - began < 20
    assert {Path(one.path).name: one.problem for one in found.skipped} == {
        name: problem for name, (_, problem) in HOSTILE.items()
    }
    assert sorted(Path(one.hit.file.shown).name for one in found.found) == ["good.py", "pictures.ipynb"]
    assert (found.crashed, found.exit_code()) == ((), 1)
    assert not (tmp_path / "ran").exists()


def _never_ends(file: ProjectFile, project: object) -> object:
    while file.shown == "slow.py":
        pass
    return ()


ENDLESS = rule("A900", check=_never_ends)


def test_a_file_that_takes_too_long_costs_its_own_answers_and_no_other() -> None:
    files = [python("slow.py", "wait()\n"), python("train.py", "import x\nwait()\n")]
    found = audit(files, {"A900": ENDLESS, "A901": WAITS}, limit_s=0.1)
    assert [(one.code, one.path, one.reason) for one in found.crashed] == [
        ("A900", "slow.py", "it came to no end in 0.1 s of CPU time; the rules after it were not asked about this file")
    ]
    assert {one.hit.file.shown for one in found.found} == {"train.py"}
    assert audit(files[:1], {"A900": ENDLESS}, limit_s=0.1).exit_code() == 3


def test_a_rule_that_fails_is_no_file_that_is_slow() -> None:
    found = audit([python("train.py", "x = 1\n")], {"A903": rule("A903", check=fails)}, limit_s=5)
    assert [one.reason for one in found.crashed] == ["KeyError: 'no train.py'"]
