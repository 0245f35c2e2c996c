"""Where a report goes, also where its folder cannot be written: the answer on the screen must not depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.errors import from_os_error
from diagnostics.core.files import new_folder, temporary_folder
from diagnostics.report.check_report import CheckReport
from diagnostics.report.folder import write


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlace:
    """A folder for one report; `problem` says why it is not below the folder that was asked for."""

    folder: Path
    problem: str = ""

    def write(self, report: CheckReport) -> str:
        """Writes the report and returns one line: where it is, or why it could not be written."""
        if self.problem:
            return f"no report was written: {self.problem}"
        try:
            return write(report, self.folder)
        except OSError as error:
            return f"no report was written: {_sentence(error, self.folder)}"


def open_place(parent: Path) -> ReportPlace:
    """Returns a new folder below `parent`, else one in the temporary folder or in memory.

    Probes leave long material there. Raises OSError where no folder can be made at all.
    """
    try:
        return ReportPlace(folder=new_folder(parent))
    except OSError as error:
        return ReportPlace(folder=temporary_folder("ups-doctor-"), problem=_sentence(error, parent))


def _sentence(error: OSError, path: Path) -> str:
    refused = from_os_error(error, action="cannot write", path=path)
    return f"{refused.message} ({refused.hint})" if refused.hint else refused.message
