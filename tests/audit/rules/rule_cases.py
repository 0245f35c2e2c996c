"""The small projects that each rule is tested on: cases/A101/bad*, good*, and expected.txt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Audit, Found
from diagnostics.audit.run import rules_of_files

CASES = Path(__file__).parent / "cases"
RULES = rules_of_files()


def folder(code: str) -> Path:
    """Returns where the cases of a rule are."""
    return CASES / f"{code[:2]}xx" / code


def codes() -> list[str]:
    return sorted(path.name for path in CASES.glob("A?xx/A???"))


def projects(code: str, kind: str) -> list[Path]:
    """Returns the folders bad, bad1, bad2 ... or good, good1 ... of a rule."""
    return sorted(path for path in folder(code).glob(f"{kind}*") if path.is_dir())


def audited(folder: Path, code: str) -> Audit:
    """Returns what one rule finds in one project; a crash or an unreadable file is a fault of the test."""
    collected = collect([folder], below=folder)
    result = audit(collected.files, {code: RULES[code]})
    assert not result.crashed, "\n".join(one.detail for one in result.crashed)
    assert not (collected.skipped + result.skipped), collected.skipped + result.skipped
    assert result.files, f"{folder} holds no file that is read"
    return result


def rendered(code: str) -> str:
    """Returns the text of expected.txt as it is now."""
    folders = projects(code, "bad")
    blocks = []
    for folder in folders:
        header = [f"== {folder.name}"] if len(folders) > 1 else []
        blocks.append("\n".join([*header, *hit_lines(audited(folder, code).found)]))
    return "\n\n".join(blocks) + "\n"


def hit_lines(found: tuple[Found, ...]) -> Iterator[str]:
    for one in found:
        hit = one.hit
        yield f"{hit.where} {one.code} {hit.confidence} {one.severity.name.lower()}: {hit.title}"
        yield from (f"    {step.place} {step.text}" for step in hit.steps)
        yield f"    fix: {hit.fix}"
        for edit in hit.edits:
            start, end = (f"{line}:{column}" for line, column in (edit.start, edit.end))
            yield f"    edit: {start}-{end} {edit.text!r}"
