"""The code of notebooks: cells joined, IPython's own turned into comments, lines where they were."""

from __future__ import annotations

import json

from rules_for_tests import WAITS

from diagnostics.audit.engine import audit
from diagnostics.audit.notebooks import read
from diagnostics.static.program.project_file import ProjectFile


def notebook(*cells: str | list[str]) -> ProjectFile:
    made = [{"cell_type": "code", "source": cell} for cell in cells]
    made.insert(1, {"cell_type": "markdown", "source": "# words"})
    return read("study.ipynb", json.dumps({"metadata": {}, "cells": made}).encode())


def test_magics_become_comments_and_every_line_stays_where_it_was() -> None:
    file = notebook(
        ["%matplotlib inline\n", "import torch\n", "!pip install torch \\\n", "    numpy\n", "x = 1"],
        "%%bash\necho $HOME\n",
        "files = !ls\nfor f in files:\n    %timeit f\n    wait()\ntorch?",
        "%%time\nwait()",
        "this is no Python",
    )
    assert file.text.split("\n") == [
        "pass  # %matplotlib inline",
        "import torch",
        "pass  # !pip install torch \\",
        "#     numpy",
        "x = 1",
        "# %%bash",
        "# echo $HOME",
        "",
        "pass  # files = !ls",
        "for f in files:",
        "    pass  # %timeit f",
        "    wait()",
        "pass  # torch?",
        "pass  # %%time",
        "wait()",
        "# this is no Python",
        "",
    ]
    assert file.tree is not None


def test_hits_are_named_by_cell_and_line_of_the_cell() -> None:
    result = audit([notebook("import x", "\nwait()", "%%time\n\nwait()")], {"A901": WAITS})
    assert [one.hit.where for one in result.found] == ["study.ipynb:cell 2:2:1", "study.ipynb:cell 3:3:1"]


def test_old_notebooks_with_worksheets_are_read() -> None:
    body = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["wait()"]}]}]}
    assert read("old.ipynb", json.dumps(body).encode()).text == "wait()\n"


def test_what_is_no_python_notebook_says_so() -> None:
    julia = {"metadata": {"kernelspec": {"language": "julia"}}, "cells": []}
    assert read("j.ipynb", json.dumps(julia).encode()).problem == "is no notebook: its language is julia"
    assert read("j.ipynb", b"[]").problem.startswith("is no notebook: ")
