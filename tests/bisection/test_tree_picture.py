from __future__ import annotations

from xml.etree import ElementTree

from bisected import TREE

from diagnostics.bisection.found import Mark, TreeRow
from diagnostics.bisection.report.module_tree import Line, lines_of
from diagnostics.bisection.report.tree_svg import tree_svg

SVG = "{http://www.w3.org/2000/svg}"


def shown(lines: list[Line]) -> list[str]:
    return [
        f"{line.mark} {'. ' * line.depth}{line.label} {line.count}x{line.class_name}+{line.inside}" for line in lines
    ]


def texts(picture: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - ours


def wide(blocks: int) -> list[TreeRow]:
    """A model of blocks with three modules each, the last block but one of which holds the culprit."""
    rows = [TreeRow(path="", class_name="Net", mark=Mark.FAILS)]
    for number in range(blocks):
        holds = number == blocks - 2
        rows.append(TreeRow(path=f"{number}", class_name="Block", mark=Mark.FAILS if holds else Mark.PASSES))
        for name in ("norm", "attn", "mlp"):
            mark = Mark.CULPRIT if holds and name == "attn" else Mark.PASSES
            rows.append(TreeRow(path=f"{number}.{name}", class_name=name.title(), mark=mark))
    return rows


def test_neighbours_that_say_the_same_are_one_line() -> None:
    assert shown(lines_of(TREE)) == [
        "fails  1xNet+0",
        "passes . inp 1xLinear+0",
        "fails . blocks 1xModuleList+0",
        "passes . . 0 1xBlock+0",
        "passes . . . attn 1xAttention+0",
        "fails . . 1 1xBlock+0",
        "culprit . . . attn 1xAttention+0",
        "not tried . . 2 ... 3 2xBlock+2",
    ]


def test_a_model_of_many_modules_is_a_short_picture() -> None:
    assert shown(lines_of(wide(100))) == [
        "fails  1xNet+0",
        "passes . 0 ... 97 98xBlock+294",
        "fails . 98 1xBlock+0",
        "passes . . norm 1xNorm+0",
        "culprit . . attn 1xAttn+0",
        "passes . . mlp 1xMlp+0",
        "passes . 99 1xBlock+3",
    ]


def test_without_a_model_there_is_no_picture() -> None:
    assert lines_of(()) == []


def test_the_picture_has_the_verdict_a_legend_and_each_line() -> None:
    picture = tree_svg("Bisection of <net>", "attn & co. die", lines_of(TREE))
    assert texts(picture) == [
        "Bisection of <net>",
        "attn & co. die",
        "X", "the culprit",
        "!", "the failure is in here",
        "o", "not needed: a stand-in took its place, and it still fails",
        "-", "not tried",
        "!", "(the model)  Net, 1,200 parameters",
        "o", "inp  Linear, 80 parameters",
        "!", "blocks  ModuleList, 900 parameters",
        "o", "0  Block, 300 parameters",
        "o", "attn  Attention, 100 parameters",
        "!", "1  Block, 300 parameters",
        "X", "attn  Attention, 100 parameters",
        "-", "2 ... 3  2 x Block, 600 parameters, 2 modules inside",
    ]  # fmt: skip


def test_a_long_verdict_makes_no_wide_picture() -> None:
    short, long = (ElementTree.fromstring(tree_svg("t", "word " * many, lines_of(TREE))) for many in (20, 200))  # noqa: S314
    assert short.get("width") == long.get("width")
