"""A page of sections, each of them one file with an ORDER, a TITLE and `render(report)`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from diagnostics.core.markdown import page
from diagnostics.core.registry import discover


def section_page(sections: ModuleType, report: Any) -> str:
    """Returns Markdown that also reads well in a terminal: every section of a package that has lines."""
    lines: list[str] = []
    for module in discover(sections, key="ORDER").values():
        body: list[str] = module.render(report)
        if body:
            lines += [f"{'#' if module.ORDER == 0 else '##'} {module.TITLE}", "", *body, ""]
    return page(lines)
