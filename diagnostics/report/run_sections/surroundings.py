"""What the job ran in: command, folder, versions, variables that concern distributed training."""

from __future__ import annotations

from diagnostics.core.markdown import block, code, inline
from diagnostics.report.run_report import RunReport

ORDER = 50
TITLE = "Environment"


def render(report: RunReport) -> list[str]:
    """Returns the facts and NAME=value lines; secrets are hidden."""
    facts = {"command": report.command, "folder": report.cwd, "started": report.started}
    lines = [f"- {name}: {code(value)}" for name, value in facts.items() if value]
    lines.append(f"- ups-doctor: {code(report.doctor_version)}")
    lines.append(f"- exit code: {report.exit_code} ({inline(report.exit_code_reason)})")
    lines.append(f"- seconds: {', '.join(f'{name} {value:.2f}' for name, value in report.seconds.items())}")
    variables = [f"{name}={value}" for name, value in report.environment.items()]
    return [*lines, "", *block(variables)] if variables else lines
