"""Parses somebody's Python without saying on our terminal what its author's Python would say of it. Pure."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str) -> ast.Module:
    """Returns the syntax tree of a file. Raises SyntaxError, ValueError, RecursionError, MemoryError as `ast.parse`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in strings; where warnings are errors they would be refused
        return ast.parse(text)
