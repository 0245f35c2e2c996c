"""The line of a file that an audit shows: taken from the whole file without its secrets."""

from __future__ import annotations

from diagnostics.core import redaction
from diagnostics.static.program.project_file import FileKind, ProjectFile


def safe_line(file: ProjectFile, number: int) -> str:
    """Returns one line without secrets, also those whose name stands on another line; "" past the file's end."""
    lines = redaction.source_lines("\n".join(file.lines), python=file.kind is FileKind.PYTHON)
    return lines[number - 1] if 0 < number <= len(lines) else ""
