"""The arrows of ARCHITECTURE.md, read from the import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
RESTING = ("findings", "errors", "checks", "matches")  # everyone may import them
PLUGINS = ("probes", "caches", "inspections", "sections", "signatures", "run_sections", "rules")
ENGINES = {
    "cache", "fix_cache", "repair", "interpreter", "job", "last_good", "preflight", "preflight_setup", "probe_plan",
    "report", "report_place", "supervise", "diagnose", "capture", "capture_cores", "capture_sources", "surroundings",
    "stall", "state_before", "verdict", "last_word", "report_filling", "report_ranks", "report_timeline", "run_page",
    "run_summary", "inspection",
    "audit", "bisect", "bisection", "bisect_preflight",
}  # fmt: skip
OUTSIDE = {"torch", "h5py", "ups", "torchvision", "lightning"}
IN_THE_JOB = ("agent", "children")  # these run in the job's processes and may import torch there
TRAINER_MAY = {"api"}


def files(package: str) -> list[Path]:
    return sorted((PROJECT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Yields every module a file imports, also inside functions; `from a import b` gives a and a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(module: str) -> str:
    """Returns the second name: `diagnostics.preflight.shm` belongs to `probes`."""
    return module.split(".")[1] if "." in module else ""


DOCTOR = [path for path in files("diagnostics") if part(name_of(path)) not in IN_THE_JOB]
TRAINER = files("ups")


def offences(paths: list[Path], wrong: object) -> list[str]:
    return [
        f"{path.relative_to(PROJECT)} imports {module}"
        for path in paths
        for module in imported(path)
        if wrong(path, module)  # type: ignore[operator]
    ]


def test_the_doctor_imports_no_torch_no_h5py_and_no_trainer() -> None:
    assert offences(DOCTOR, lambda path, module: module.split(".")[0] in OUTSIDE) == []


def test_the_agent_and_the_children_import_nothing_of_ours() -> None:
    inside = [path for path in files("diagnostics") if part(name_of(path)) in IN_THE_JOB]
    assert offences(inside, lambda path, module: module.split(".")[0] in {"diagnostics", "ups", "click", "rich"}) == []


@pytest.mark.parametrize("package", PLUGINS)
def test_plugins_import_no_plugin_of_another_kind_no_engine_and_no_click(package: str) -> None:
    above = ENGINES | {"commands", "cli", "render", *PLUGINS} - {package}

    def wrong(path: Path, module: str) -> bool:
        outside = module.split(".")[0] in {"click", "rich"}
        return outside or (module.startswith("diagnostics.") and part(module) in above)

    paths = [path for path in DOCTOR if part(name_of(path)) == package]
    assert offences(paths, wrong) == []


@pytest.mark.parametrize(
    ("package", "key"),
    [
        ("probes", "CODE"),
        ("caches", "CODE"),
        ("inspections", "CODE"),
        ("sections", "ORDER"),
        ("signatures", "CODE"),
        ("run_sections", "ORDER"),
        ("rules", "CODE"),
    ],
)
def test_no_plugin_imports_another_plugin(package: str, key: str) -> None:
    plugins = {name_of(path) for path in files(f"diagnostics/{package}") if f"\n{key} = " in path.read_text()}
    paths = [path for path in DOCTOR if name_of(path) in plugins]
    assert offences(paths, lambda path, module: module in plugins) == []


def test_signatures_read_the_case_and_nothing_else() -> None:
    may = {"matches", "findings", "analysis", "signatures"}
    paths = [path for path in DOCTOR if part(name_of(path)) == "signatures"]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.") and part(module) not in may) == []


def test_rules_read_files_and_the_project_and_nothing_else() -> None:
    may = {"hits", "findings", "analysis", "rules", "agent"}
    paths = [path for path in DOCTOR if part(name_of(path)) == "rules"]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.") and part(module) not in may) == []
    disk = {"os", "pathlib.Path", "subprocess", "socket", "shutil"}
    assert offences(paths, lambda path, module: module in disk) == []


def test_only_commands_and_the_command_line_know_click() -> None:
    may = {"commands", "cli", "command_folder", "say"}
    paths = [path for path in DOCTOR if part(name_of(path)) not in may]
    assert offences(paths, lambda path, module: module.split(".")[0] in {"click", "rich"}) == []


def test_text_goes_out_to_the_terminal_in_one_place() -> None:
    outlets = {"print", "click.echo", "click.secho", "click.confirm", "click.prompt"}
    outlets |= {f"sys.{stream}{part}.write" for stream in ("stdout", "stderr") for part in ("", ".buffer")}
    found = [
        f"{name_of(path)} calls {ast.unparse(node.func)}"
        for path in DOCTOR
        if part(name_of(path)) not in IN_THE_JOB
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in outlets
    ]
    assert found == ["diagnostics.core.console calls click.confirm"]


def test_nothing_but_the_command_line_imports_commands() -> None:
    paths = [path for path in DOCTOR if part(name_of(path)) not in {"commands", "cli"}]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.commands")) == []


def test_commands_import_no_other_command() -> None:
    paths = [path for path in DOCTOR if part(name_of(path)) == "commands"]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.commands.")) == []


def test_the_machine_and_the_analysis_look_at_nothing_above_them() -> None:
    below = {"machine", "analysis", "findings", "errors", "checks", "matches", "agent", "own_folders"}
    paths = [path for path in DOCTOR if part(name_of(path)) in {"machine", "analysis"}]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.") and part(module) not in below) == []


def test_findings_errors_checks_and_matches_rest_on_nothing() -> None:
    paths = [PROJECT / "diagnostics" / f"{name}.py" for name in RESTING]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.") and part(module) not in RESTING) == []


def test_real_machines_are_made_in_one_place() -> None:
    found = {line.split(" imports ")[0] for line in offences(DOCTOR, lambda path, m: m == "diagnostics.machine.this")}
    assert found <= {"diagnostics/preflight/setup.py", "diagnostics/machine/__init__.py"}


def test_the_trainer_uses_the_public_part_of_the_doctor_only() -> None:
    def wrong(path: Path, module: str) -> bool:
        return module.startswith("diagnostics.") and part(module) not in TRAINER_MAY

    assert offences(TRAINER, wrong) == []


@pytest.mark.parametrize("package", ["diagnostics", "ups"])
def test_imports_run_in_no_circle(package: str) -> None:
    modules = {name_of(path): path for path in files(package)}
    graph = {
        name: {other for other in imported(path) if other in modules and not f"{name}.".startswith(f"{other}.")}
        for name, path in modules.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError with the modules of the circle


def test_only_the_guard_catches_doctor_errors() -> None:
    # Elsewhere they are turned into another error or an outcome, never into an exit code.
    caught = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for path in DOCTOR
        if part(name_of(path)) == "commands"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and node.type is not None and "DoctorError" in ast.unparse(node.type)
    ]
    assert caught == []
