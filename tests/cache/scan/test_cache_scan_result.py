from __future__ import annotations

import pytest

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.formats import torch_zip
from diagnostics.cache.scan.result import ScanCounter


def finding_of(name: str, code: str = "C101") -> tuple[str, str]:
    count = ScanCounter()
    count.add(FileScan(path="a.pt", size=1, code=code, format="x", problems=(Problem(name=name, observed="o"),)))
    (finding,) = count.finish(paths=["a.pt"], roots=["a.pt"], seconds=0, interrupted=False).findings
    assert finding.fix
    return finding.title, finding.fix.text


def test_a_problem_that_no_table_knows_is_told_by_its_name() -> None:
    told = ("1 of 1 cache files have a problem: never heard of", "read what it is: ups-doctor explain C101")
    assert finding_of("never-heard-of") == told
    assert finding_of("never-heard-of", "C999")[0] == told[0]


def test_a_format_brings_words_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_zip, "MEANINGS", {"odd": "are odd {braces}"}, raising=False)
    monkeypatch.setattr(torch_zip, "REMEDIES", {"odd": "make them even"}, raising=False)
    assert finding_of("odd") == ("1 of 1 cache files are odd {braces}", "make them even")
