"""The table of practices ticks what is proven: what is possible, was not decided or not seen gets no tick."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rules_for_tests import fails, python, rule

from diagnostics.audit.engine import audit
from diagnostics.audit.output.checklist import Practice, checklist, lines
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile


def _possible(file: ProjectFile, project: Project) -> Iterator[Violation]:
    yield Violation(file=file, line=1, title="it may wait", fix="none", confidence=Confidence.POSSIBLE)


SAMPLER = rule("A901", lambda file, project: (), WORDS=("DistributedSampler", "set_epoch"),
               SUBJECT=("DistributedSampler",), CHECKLIST="set_epoch is called")  # fmt: skip
IMPORTED = "from torch.utils.data import DistributedSampler\n"


def told(*texts: str) -> Practice:
    files = [python(f"{'abc'[at]}.py", text) for at, text in enumerate(texts)]
    (practice,) = checklist(audit(files, {"A901": SAMPLER}), {"A901": SAMPLER})
    return practice


@pytest.mark.parametrize(
    "text",
    [
        f"{IMPORTED}sampler = DistributedSampler(data)\n",
        f"{IMPORTED}def f():\n    make = DistributedSampler\n",
        "from torch.utils.data import DistributedSampler as Shares\nsampler = Shares(data)\n",
        "import torch\nsampler = torch.utils.data.DistributedSampler(data)\n",
        "from torch.utils.data import *\nsampler = DistributedSampler(data)\n",
        "class DistributedSampler: ...\n",
        "make(kind='DistributedSampler')\n",
    ],
)
def test_what_a_practice_is_about_is_seen_where_it_is_used(text: str) -> None:
    assert told(text).kept == "ok"


@pytest.mark.parametrize(
    "text",
    [
        f"{IMPORTED}print(1)\n",
        "# DistributedSampler would be better\nsampler.set_epoch(1)\n",
        "from helpers import *\nsampler = DistributedSampler(data)\nsampler.set_epoch(1)\n",
        "sampler.set_epoch(1)\n",
    ],
)
def test_it_is_not_seen_in_a_comment_an_import_or_a_name_that_nothing_binds(text: str) -> None:
    assert told(text).kept == "not seen"


def test_a_star_import_of_an_audited_module_binds_the_name() -> None:
    assert told("from b import *\nsampler = DistributedSampler(data)\n", IMPORTED).kept == "ok"


def test_a_practice_without_files_is_not_applicable() -> None:
    assert told("print(1)\n").kept == "not applicable"


def test_a_possible_finding_and_a_rule_without_an_answer_leave_a_line_open() -> None:
    rules = {
        "A901": rule("A901", _possible, WORDS=("wait",), CHECKLIST="nothing waits for ever"),
        "A902": rule("A902", fails, WORDS=("wait",), CHECKLIST="waits are short"),
        "A903": rule("A903", lambda file, project: (), WORDS=("wait",), CHECKLIST="waits are counted"),
    }
    practices = checklist(audit([python("a.py", "wait = print\nwait()\n")], rules), rules)
    assert list(lines(practices)) == [
        "[?] 1 possible      nothing waits for ever (A901): see --possible",
        "[?] not decided     waits are short (A902)",
        "[x] ok              waits are counted (A903)",
        "1 of 3 practices kept, 2 open, 0 not applicable",
    ]
