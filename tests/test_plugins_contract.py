"""What every plugin owes: a code of its own, a kebab-case name, and a docstring that explains it."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from diagnostics import audit, diagnosis, preflight
from diagnostics.audit.run import rules_of_files
from diagnostics.cache import folder_check, folder_checks, formats
from diagnostics.commands.explain import all_plugins
from diagnostics.core.failure_classes import FAILURE_CLASSES
from diagnostics.core.findings import Severity
from diagnostics.core.registry import discover
from diagnostics.diagnosis.signature import AppliesTo
from diagnostics.inspection import checks
from diagnostics.parity import hypotheses
from diagnostics.preflight.plan import in_order, load_probes
from diagnostics.preflight.probe import Stage
from diagnostics.report import check_sections, run_sections
from diagnostics.static.program.project_file import FileKind

PROBES = discover(preflight)
SIGNATURES = discover(diagnosis)
RULES = rules_of_files()
ACROSS = discover(folder_checks)
CODED = {
    **discover(audit),
    **PROBES,
    **discover(formats),
    **ACROSS,
    **discover(checks),
    **discover(hypotheses),
    **SIGNATURES,
    **RULES,
}
SECTIONS = discover(check_sections, key="ORDER")
RUN_SECTIONS = discover(run_sections, key="ORDER")
HEADINGS = ("What it does:", "Why it matters:")


def each(plugins: dict[str, ModuleType]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("module", plugins.values(), ids=[str(key) for key in plugins])


@each(CODED)
def test_a_plugin_explains_itself(module: ModuleType) -> None:
    doc = inspect.cleandoc(module.__doc__ or "")
    first, blank = [*doc.splitlines(), "", ""][:2]
    assert re.fullmatch(r"([A-Z/`]|[a-z]+[._][a-z]).{5,118}\.", first), (
        f"{module.CODE}: the first line is one sentence: {first!r}"
    )
    assert blank == "", f"{module.CODE}: a blank line follows the first"
    missing = [heading for heading in HEADINGS if f"\n{heading} " not in doc]
    assert missing == [], f"{module.CODE} {module.__file__}"
    assert re.search(r"^(Fix|Good):", doc, re.MULTILINE), f"{module.CODE} says no fix (Fix: or Good:)"


@each(CODED)
def test_a_plugin_has_a_code_and_a_kebab_case_name(module: ModuleType) -> None:
    assert re.fullmatch(r"[A-Z]\d{3}", module.CODE)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", module.NAME), module.NAME


def test_no_code_and_no_name_is_used_twice() -> None:
    names = [module.NAME for module in CODED.values()]
    assert sorted(names) == sorted(set(names))
    assert len(all_plugins()) == len(CODED)


@each(PROBES)
def test_a_probes_code_belongs_to_its_stage(module: ModuleType) -> None:
    assert module.CODE[0] == "P"
    assert list(Stage).index(module.STAGE) == int(module.CODE[1]) - 1, f"{module.CODE} is a {module.STAGE} probe"


@each(PROBES)
def test_a_probe_requires_what_exists_and_runs_no_later(module: ModuleType) -> None:
    requires = getattr(module, "REQUIRES", ())
    assert isinstance(requires, tuple)
    assert set(requires) <= set(PROBES), f"{module.CODE} requires {requires}"
    assert all(code[1] <= module.CODE[1] for code in requires), f"{module.CODE} requires a later stage: {requires}"


@each(PROBES)
def test_a_probe_takes_a_machine_and_a_config(module: ModuleType) -> None:
    assert [*inspect.signature(module.probe).parameters] == ["machine", "config"]


def test_all_probes_load_and_can_be_ordered() -> None:
    loaded, broken = load_probes(preflight)
    assert broken == []
    assert len(in_order(loaded)) == len(PROBES)


@each(RULES)
def test_a_rule_keeps_to_its_contract(module: ModuleType) -> None:
    may_be_left_out = {
        "WORDS": (), "READS": frozenset({FileKind.PYTHON}), "CHECKLIST": "nothing", "SUBJECT": (),
    }  # fmt: skip
    assert re.fullmatch(r"A[1-6]\d\d", module.CODE)
    assert isinstance(module.SEVERITY, Severity)
    words, reads, practice, subject = (getattr(module, name, default) for name, default in may_be_left_out.items())
    assert not isinstance(words, str)
    assert not isinstance(subject, str)
    assert all(isinstance(word, str) and re.fullmatch(r"\w+", word) for word in (*words, *subject)), (
        "words are looked up whole"
    )
    assert reads <= set(FileKind)
    assert reads, "a rule that reads no kind of file is never asked"
    assert re.fullmatch(r"[a-z].*[^.]", practice), "a line of a table"
    assert list(inspect.signature(module.check).parameters) == ["file", "project"]


@each(ACROSS)
def test_a_check_across_files_has_words_for_its_problems_and_finds_none_in_no_files(module: ModuleType) -> None:
    assert re.fullmatch(r"C1[5-9]\d", module.CODE)
    assert module.NAME in module.MEANINGS
    assert set(module.MEANINGS) == set(module.REMEDIES)
    run: folder_check.Across = module.begin()
    assert [*run.finish()] == []


@each(SIGNATURES)
def test_a_signature_names_its_class_and_the_jobs_it_is_asked_about(module: ModuleType) -> None:
    assert module.CODE[0] == "D"
    assert module.CLASS in FAILURE_CLASSES
    assert isinstance(module.EXAMINES, AppliesTo)
    assert [*inspect.signature(module.match).parameters] == ["job"]


@each(
    {
        f"{kind} {order}": one
        for kind, found in (("page", SECTIONS), ("run page", RUN_SECTIONS))
        for order, one in found.items()
    }
)
def test_a_section_has_a_title_and_says_what_it_shows(module: ModuleType) -> None:
    assert re.fullmatch(r"[A-Z].*[^.]", module.TITLE)
    assert module.__doc__
    assert [*inspect.signature(module.render).parameters] == ["report"]
