"""The shell of every page: escaping templates, a strict Content-Security-Policy, one file that needs no other.

What a job wrote can be anything. `shown` makes each text that a template prints visible and bounds it; autoescaping
keeps it text; the policy names the hashes of our own script and style, so that nothing else could run even so.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from diagnostics.core.console import printable

TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 1 << 20  # of a page: it has to pass as a mail's attachment
LONGEST_TEXT = 2_000  # characters of one text


def render(template: str, **values: Any) -> str:
    """Returns a page. Raises jinja2.TemplateError, and what the values raise."""
    style, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _environment().get_template(template)
    return page.render(style=Markup(style), script=Markup(script), policy=policy, **values)  # noqa: S704 - our own files


def shown(value: Any) -> Any:
    """Returns what is printed of a value: no character hides, reorders or ends others, and none goes on for ever."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return "" if value is None else value
    if len(value) > LONGEST_TEXT:
        value = f"{value[:LONGEST_TEXT]} ... ({len(value) - LONGEST_TEXT} more characters)"
    return printable(value)


def data_block(value: Any) -> Markup:
    """Returns JSON for a data block of a page: no `<` in it can end the block."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704 - see above


@cache
def _environment() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.ChainableUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return found


@cache
def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
