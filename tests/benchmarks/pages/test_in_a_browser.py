"""report.html in a real browser: `make page-test`. Pictures of it go to PICTURES, where that is given."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import WHY_NOT, Browser
from many_ranks import many_ranks_page

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "report")]
from shown_text import HOSTILE, poisoned  # noqa: E402 - of the tests' own folder
from test_html_page import TOLD, page_of  # noqa: E402

from diagnostics.report.html.markdown_page import markdown_page  # noqa: E402

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
AXE = Path(os.environ.get("AXE", "none"))
EXAMPLE = Path(__file__).parents[3] / "reports" / "examples"
PICTURES = os.environ.get("PICTURES")
LEFT, RIGHT = "\ue012", "\ue014"
WIDTHS = (360, 800, 1400)
HOSTILE_PAGES = (
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=document.title='taken'>",
    *HOSTILE,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    text = {
        "run": page_of(TOLD),
        "preflight": markdown_page((EXAMPLE / "preflight" / "report.md").read_text(), "preflight"),
        "many": many_ranks_page(10_000),
    }
    for name, page in text.items():
        (folder / f"{name}.html").write_text(page)
    return {name: folder / f"{name}.html" for name in text}


def view(browser: Browser) -> list[float]:
    found: list[float] = browser.script(
        "const v = document.querySelector('svg.picture').viewBox.baseVal; return [v.x, v.width]"
    )
    return found


@pytest.mark.parametrize("name", ["run", "preflight", "many"])
def test_a_page_opens_at_each_width_light_and_dark_without_a_word_on_the_console(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    for width in WIDTHS:
        for dark in (False, True):
            browser.open(pages[name], width=width, dark=dark)
            assert browser.said() == []
            assert browser.script("return performance.getEntriesByType('resource').length") == 0
            assert browser.script("return document.documentElement.scrollWidth") <= width
            if PICTURES:
                browser.picture(Path(PICTURES) / f"{name}-{width}-{'dark' if dark else 'light'}.png")


def test_ten_thousand_ranks_open_in_three_seconds(browser: Browser, pages: dict[str, Path]) -> None:
    began = time.monotonic()
    browser.open(pages["many"])
    browser.script("return document.querySelectorAll('g.lane').length")
    assert time.monotonic() - began < 3.0
    assert pages["many"].stat().st_size < 1 << 20


def test_one_zooms_by_buttons_and_keys_and_comes_back(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    _, whole = view(browser)
    browser.click("[data-zoom='2']")
    assert view(browser)[1] == pytest.approx(whole / 2)
    browser.script("document.querySelector('g.lane').focus()")
    browser.press("+")
    assert view(browser)[1] == pytest.approx(whole / 4)
    browser.press("-")
    assert view(browser)[1] == pytest.approx(whole / 2)
    browser.press("0")
    assert view(browser) == [0, 1000]
    labels = browser.script("return [...document.querySelectorAll('svg.ticks text')].map((one) => one.textContent)")
    assert labels[:2] == ["0.0 s", "1.0 s"] or labels[0].startswith("0")


def test_keys_walk_from_mark_to_mark_and_a_click_shows_the_stack(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    browser.script("document.querySelector('g.lane').focus()")
    browser.press(RIGHT)
    said = "return document.querySelector('#detail p').textContent"
    assert browser.script(said).startswith("rank 0: step 1, 500.0 ms")
    browser.press(RIGHT + RIGHT + LEFT)
    assert browser.script(said).startswith("rank 0: step 2")
    browser.click("rect.c-waits[data-i]")
    assert browser.script(said) == "rank 0: all_reduce #17 of 8x3 float32 in group 0: never left it, from 2.600 s"
    assert (
        browser.script("return document.querySelector('#detail pre').textContent")
        == "train.py:31 step\ntrain.py:58 main"
    )
    browser.hover("rect.c-call[data-i]")
    assert browser.script("const t = document.getElementById('tip'); return [t.hidden, t.textContent]") == [
        False, "all_reduce #16 of 8x3 float32 in group 0: 500.0 ms, from 2.000 s",
    ]  # fmt: skip
    assert browser.said() == []


def test_hostile_texts_stay_text(browser: Browser, tmp_path: Path) -> None:
    for number, name in enumerate(HOSTILE_PAGES):
        page = tmp_path / f"{number}.html"
        page.write_text(page_of(poisoned(TOLD, name)))
        browser.open(page)
        assert browser.said() == [], name
        assert browser.script("return document.title") != "taken"
        assert browser.script("return document.scripts.length") == 2


def test_it_prints_and_reads_without_javascript(browser: Browser, pages: dict[str, Path]) -> None:
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(pages["run"])
    root = browser.tell("DOM.getDocument", depth=-1)["root"]
    text = json.dumps(root)
    browser.tell("Emulation.setScriptExecutionDisabled", value=False)
    assert "never came to all_reduce #17 of group 0" in text
    browser.open(pages["run"])
    assert len(browser.tell("Page.printToPDF", printBackground=True)["data"]) > 10_000


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: make page-test fetches it by npm")
@pytest.mark.parametrize("name", ["run", "preflight", "many"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser: Browser, pages: dict[str, Path], name: str, dark: bool) -> None:
    browser.open(pages[name], dark=dark)
    browser.script(AXE.read_text())
    found: list[dict[str, Any]] = browser.later(
        "axe.run().then((one) => arguments[arguments.length - 1](one.violations))"
    )
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []
    browser.said()
