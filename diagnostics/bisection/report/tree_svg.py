"""The picture of the search: the module tree with what was tried, fails and passes. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from diagnostics.bisection.found import Mark
from diagnostics.bisection.report.module_tree import Line

ROW, INDENT, LEFT, TOP, CHAR, LINE, WRAP = 22, 22, 24, 96, 7.25, 17, 100
# Colours that people who cannot tell red from green tell apart; the signs say it without any colour.
LOOKS = {
    Mark.CULPRIT: ("#b2182b", "#ffffff", "X", "the culprit"),
    Mark.FAILS: ("#f4a582", "#222222", "!", "the failure is in here"),
    Mark.PASSES: ("#92c5de", "#222222", "o", "not needed: a stand-in took its place, and it still fails"),
    Mark.NOT_TRIED: ("#e8e8e8", "#444444", "-", "not tried"),
}


def tree_svg(title: str, verdict: str, lines: Sequence[Line]) -> str:
    """Returns the picture as one SVG document."""
    used = [mark for mark in LOOKS if any(line.mark is mark for line in lines)]
    said = textwrap.wrap(verdict, WRAP, break_on_hyphens=False)
    began = TOP + LINE * (len(said) - 1)
    top = began + ROW * len(used)
    texts = [title, *said, *(LOOKS[mark][3] for mark in used)]
    widest = max([LEFT + INDENT * line.depth + 30 + CHAR * len(_text(line)) for line in lines] or [0])
    width = int(max(widest, *(LEFT + 30 + CHAR * len(text) for text in texts))) + LEFT
    height = top + ROW * len(lines) + 20
    body = [*_head(title, said), *_legend(used, began - ROW - 2), *_connections(lines, top)]
    for number, line in enumerate(lines):
        body += _drawn(line, top + ROW * number)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _head(title: str, said: Sequence[str]) -> Iterator[str]:
    yield f'<text x="{LEFT}" y="34" font-size="15" font-weight="bold" fill="#111111">{escape(title)}</text>'
    for number, line in enumerate(said):
        yield f'<text x="{LEFT}" y="{58 + LINE * number}" fill="#111111">{escape(line)}</text>'


def _legend(used: Sequence[Mark], top: int) -> Iterator[str]:
    for number, mark in enumerate(used):
        y = top + ROW * number
        yield from _sign(LEFT, y, mark)
        yield f'<text x="{LEFT + 26}" y="{y + 14}" fill="#333333">{escape(LOOKS[mark][3])}</text>'


def _drawn(line: Line, y: int) -> Iterator[str]:
    x = LEFT + INDENT * line.depth
    yield from _sign(x, y, line.mark)
    weight = ' font-weight="bold"' if line.mark is Mark.CULPRIT else ""
    name, rest = _name(line), _rest(line)
    yield (
        f'<text x="{x + 26}" y="{y + 14}" fill="#111111"{weight} xml:space="preserve">{escape(name)}'
        f'<tspan fill="#666666" font-weight="normal">{escape(rest)}</tspan></text>'
    )


def _sign(x: int, y: int, mark: Mark) -> Iterator[str]:
    fill, ink, sign, _ = LOOKS[mark]
    yield f'<rect x="{x}" y="{y + 1}" width="18" height="17" rx="3" fill="{fill}"/>'
    yield f'<text x="{x + 9}" y="{y + 14}" text-anchor="middle" font-weight="bold" fill="{ink}">{sign}</text>'


def _connections(lines: Sequence[Line], top: int) -> Iterator[str]:
    """Yields a line from each module down and over to each one below it."""
    parents: list[int] = []  # the last line of each depth
    for number, line in enumerate(lines):
        del parents[line.depth :]
        if parents:
            x, y = LEFT + INDENT * (line.depth - 1) + 9, top + ROW * number + 10
            start = top + ROW * parents[-1] + 18
            yield f'<path d="M{x} {start}V{y}H{x + INDENT - 9}" fill="none" stroke="#bbbbbb"/>'
        parents.append(number)


def _text(line: Line) -> str:
    return _name(line) + _rest(line)


def _name(line: Line) -> str:
    return line.label or "(the model)"


def _rest(line: Line) -> str:
    times = f"{line.count} x " if line.count > 1 else ""
    words = [f"  {times}{line.class_name}"]
    words += [f"{line.parameters:,} parameters"] if line.parameters else []
    words += [f"{line.inside} modules inside"] if line.inside else []
    return ", ".join(words)
