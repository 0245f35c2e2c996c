"""A page of any report.md: its Markdown, with tags, links and pictures in it left as text."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from markdown_it import MarkdownIt
from markupsafe import Markup

from diagnostics.report.html.document import LONGEST_TEXT, MOST_BYTES, render, shown

MOST_LINES = 4_000


def markdown_page(text: str, title: str, pictures: Mapping[str, bytes] | None = None) -> str:
    """Returns the page; of a text too long for it, the beginning. `pictures` are SVGs by name."""
    lines = [line if len(line) <= 4 * LONGEST_TEXT else shown(line) for line in text.splitlines()]
    most = MOST_LINES
    while True:
        page = render(
            "markdown.html.j2", title=title, body=_html(lines[:most], pictures or {}), hidden=max(0, len(lines) - most)
        )
        if len(page.encode()) < MOST_BYTES or most < 2:
            return page
        most //= 2


def _html(lines: list[str], pictures: Mapping[str, bytes]) -> Markup:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink"])
    tokens = reader.parse("\n".join(lines) + "\n")
    for token in tokens:
        if "style" in token.attrs:  # how a column is aligned: our policy lets no style of an element's own pass
            token.attrs = {"class": "n"} if "right" in str(token.attrs["style"]) else {}
    html: str = reader.renderer.render(tokens, reader.options, {})
    # A table scrolls by itself, by keyboard too; in text markdown-it has no "<" of its own left.
    html = html.replace("<table>", '<div class="wide" tabindex="0" role="region" aria-label="table"><table>')
    html = html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    for name, data in pictures.items():
        # As an image an SVG runs nothing. What a job says cannot look so: core/markdown.py takes its "](" apart.
        source = f"data:image/svg+xml;base64,{base64.b64encode(data).decode()}"
        html = re.sub(rf"!\[([^\[\]<>]*)\]\({re.escape(name)}\)", rf'<img alt="\1" src="{source}">', html, count=1)
    return Markup(html)  # noqa: S704 - escaped by markdown-it
