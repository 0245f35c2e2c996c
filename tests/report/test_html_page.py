"""report.html: one file that needs no other, believes nothing it shows, and never costs the report anything."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_trace import TRACE
from shown_text import HOSTILE, poisoned, unprintable
from test_run_page import CRASH, HEALTHY

from diagnostics.core.findings import to_json
from diagnostics.report import html_page
from diagnostics.report.headline import headline
from diagnostics.report.html.markdown_page import markdown_page
from diagnostics.report.html.run_page import run_page
from diagnostics.report.html.stack_tree import rank_set, tree_of
from diagnostics.report.page import json_text, markdown
from diagnostics.report.run_report import RunReport, StandingRow

TOLD = replace(CRASH, trace=TRACE)


class Page(HTMLParser):
    """The tags, attributes and texts of a page, as a browser takes them apart."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.blocks[self._inside].append(data) if self._inside in self.blocks else self.text.append(data)


def page_of(report: RunReport) -> str:
    return run_page(json.loads(json_text(report)), headline(report), report.trace)


PLAIN = Page(page_of(poisoned(TOLD, "x")))


@pytest.mark.parametrize(
    "name", [*HOSTILE, "</script><script>alert(1)</script>", "' onload=alert(1) x='", "{{ 7 * 7 }}"]
)
def test_whatever_things_are_called_the_page_has_the_tags_of_a_harmless_one(name: str) -> None:
    text = page_of(poisoned(TOLD, name))
    page = Page(text)
    kinds = {(tag, names) for tag, names in page.tags}
    # A text of several lines stands in a block; all else is text.
    assert kinds - set(PLAIN.tags) <= {("pre", ("tabindex",))}
    assert len(page.blocks["script"]) == 2
    assert unprintable(text) == []
    assert "49" not in "".join(page.text) or name != "{{ 7 * 7 }}"


def test_the_page_says_what_report_md_says() -> None:
    text = " ".join(" ".join(Page(page_of(TOLD)).text).split())
    for said in (
        "The job crashed: native-crash on rank 1 in blocks.0.attention at model.py:31.", CRASH.root_cause,
        "> 31 return attend(x)", "check the version of the library", "ups-doctor bisect-model model:Net",
        "SIGSEGV after 3.2 s", "Segmentation fault model.py:31 forward", "no core dump: the limit is 0",
        "rank 0-1: no core dump", "ups-doctor run -- torchrun --nproc-per-node 2 train.py",
    ):  # fmt: skip
        assert said in text, said
    assert "abcdefgh12345678" not in text


def test_lanes_join_what_ranks_made_together_and_mark_what_one_missed() -> None:
    page = Page(page_of(TOLD))
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("g", "aria-label")]
    assert labels == [
        "rank 0, 4 steps, last module blocks.0.attention, waits in all_reduce #17, ended with exit code 1",
        "rank 1, culprit, 4 steps, last module blocks.0.attention, last call all_reduce #16, "
        "never came to all_reduce #17 of group 0, in which others wait, ended with exit code 1",
    ]
    styles = [value for tag, name, value in page.attributes if name == "class" and tag in ("rect", "path")]
    assert (styles.count("c-waits"), styles.count("m-missed"), styles.count("c-call")) == (2, 2, 4)  # one in the legend
    marks = json.loads(page.blocks["script"][0])
    assert [text for at, text, _ in marks["marks"] if at == 0][-2:] == [
        "all_reduce #17 of 8x3 float32 in group 0: never left it, from 2.600 s",
        "ended with exit code 1, at 3.200 s",
    ]
    assert marks["stacks"] == ["train.py:31 step\ntrain.py:58 main"]


def test_nothing_comes_from_outside_and_only_our_own_script_and_style_may_run() -> None:
    page = Page(page_of(TOLD))
    policy = next(value for tag, name, value in page.attributes if tag == "meta" and "default-src" in value)
    script, style = page.blocks["script"][1], page.blocks["style"][0]

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert {name for _, name, _ in page.attributes} & {"src", "href", "style", "srcset", "action"} == set()
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    assert re.findall(r"url\(|@import|fetch\(|XMLHttp|innerHTML|eval\(", script + style) == []


@pytest.mark.parametrize("long", ["x" * 1_000_000, "\u202e" * 1_000_000, "a\n" * 500_000])
def test_a_page_stays_below_a_mebibyte_whatever_is_told(long: str) -> None:
    told = poisoned(replace(TOLD, findings=CRASH.findings * 100), long)
    text = run_page(to_json(told), long, None)
    assert len(text.encode()) < 1 << 20


def test_a_job_that_stood_still_has_a_page_with_what_each_process_did() -> None:
    row = StandingRow(
        who="rank 1", pid=7, place="train.py:31", does="waits in a collective", looks="sleeps in futex, 4 looks"
    )
    text = " ".join(Page(page_of(replace(TOLD, standing=(row,)))).text)
    assert all(word in text for word in ("Where it stands", row.place, row.does, row.looks))


def test_a_healthy_job_has_a_page_without_a_fault_in_it() -> None:
    text = " ".join(Page(page_of(HEALTHY)).text)
    assert "The job ended well." in text
    assert not any(word in text for word in ("Fix", "Proof", "how sure"))


def test_a_page_of_markdown_shows_tables_and_code_and_neither_tags_nor_links() -> None:
    hostile = "# t\n\n<b>x</b> [a](javascript:alert(1)) ![p](http://x/y.png)\n\n| a | b |\n| --- | --: |\n| 1 | 2 |\n"
    page = Page(markdown_page(hostile, "t"))
    tags = {tag for tag, _ in page.tags}
    assert {"table", "td"} <= tags
    assert [one for one in page.attributes if one[0] == "td"] == [("td", "class", "n")]
    assert tags & {"b", "a", "img"} == set()
    assert "<b>x</b> [a](javascript:alert(1)) ![p](http://x/y.png)" in "".join(page.text)


def test_a_picture_of_ours_is_in_the_page_and_one_behind_a_link_is_not(tmp_path: Path) -> None:
    (tmp_path / "tree.svg").write_text("<svg/>")
    (tmp_path / "other.svg").symlink_to("/etc/passwd")
    (tmp_path / "report.md").write_text("# t\n\n![The tree](tree.svg)\n\n![x](other.svg)\n")
    assert html_page.write_beside(tmp_path / "report.md") == ""
    images = [value for tag, name, value in Page((tmp_path / "report.html").read_text()).attributes if name == "src"]
    assert images == ["data:image/svg+xml;base64,PHN2Zy8+"]


def test_a_page_that_cannot_be_made_takes_the_old_one_away_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("of an earlier job")
    broken = replace(TOLD, trace=replace(TRACE, lanes=(None,)))  # type: ignore[arg-type]
    said = html_page.write_run_page(broken, json_text(TOLD), tmp_path)
    assert said == "no report.html: AttributeError: 'NoneType' object has no attribute 'steps'"
    assert list(tmp_path.iterdir()) == []


def test_what_is_drawn_is_no_part_of_report_json_or_report_md() -> None:
    assert json_text(TOLD) == json_text(CRASH)
    assert markdown(TOLD) == markdown(CRASH)


def test_stacks_of_many_ranks_become_one_tree_with_the_odd_ones_on_top() -> None:
    loop = {"ranks": list(range(9999)), "frames": ["c.py:3 wait", "a.py:2 step", "a.py:1 main"]}
    odd = {"ranks": [9999], "frames": ["b.py:7 save", "a.py:1 main"]}
    (root,) = tree_of([loop, odd])
    assert (root.frames, rank_set(sorted(root.ranks))) == (["a.py:1 main"], "0-9999")
    below = [(node.frames, rank_set(sorted(node.ranks))) for node in root.below.values()]
    assert below == [(["b.py:7 save"], "9999"), (["a.py:2 step", "c.py:3 wait"], "0-9998")]
