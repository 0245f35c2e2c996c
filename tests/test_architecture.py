"""The arrows of ARCHITECTURE.md, sizes and names: read from the source files."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
OUTSIDE = {"torch", "h5py", "ups", "torchvision", "lightning"}
IN_THE_JOB = ("agent", "children")  # these run in the job's processes and may import torch there
# These lead their package: they alone import its folders. What else stands beside them is the contract.
ENGINES = {
    "machine.this", "report.folder", "report.page", "report.html_page", "bisection.engine", "audit.run",
    "inspection.engine", "preflight.engine", "diagnosis.engine", "parity.engine", "triage.engine",
}  # fmt: skip
# What a folder of diagnostics/ may import beside itself and core/. Short names: s static, d dynamic, m machine.
ARROWS = {
    "core": "agent/shared",
    "record": "agent/shared record/marks",
    "record/marks": "",
    "adapter": "machine",
    "machine": "",
    "machine/host": "machine",
    "machine/processes": "machine m/host",
    "machine/execution": "machine m/processes",
    "static/program": "agent/shared s/program/modules",
    "static/program/modules": "agent/shared",
    "static/dataflow": "agent/shared s/program",
    "static/ordering": "agent/shared s/program",
    "static/slicing": "s/program",
    "static/spmd": "agent/shared s/program s/dataflow",
    "static/torch_code": "s/program s/dataflow",
    "static/autograd": "s/program s/torch_code",
    "static/samples": "s/program s/dataflow s/torch_code",
    "static/execution": "agent/shared s/program",
    "static/executed": "agent/shared s/program s/execution",
    "static/executed/models": "agent/shared s/program s/launch_files s/execution s/executed",
    "static/executed/checkpoints": "s/program s/execution s/executed",
    "static/executed/loading": "s/program s/execution s/executed",
    "static/executed/steps": "agent/shared s/program s/execution s/executed",
    "static/launch_files": "agent/shared s/program s/dataflow s/ordering",
    "static/launch_files/failing": "s/launch_files",
    "dynamic/job": "machine record s/program",
    "dynamic/model": "record d/job s/program s/dataflow s/torch_code",
    "dynamic/collectives": "agent/shared record d/job s/program",
    "dynamic/divergence": "agent/shared record record/marks d/job d/collectives s/program s/dataflow",
    "dynamic/stall": "machine record d/job d/collectives d/divergence s/program",
    "dynamic/failures": "agent/shared record d/job d/model d/stall s/program s/dataflow s/torch_code",
    "dynamic/replicas": "agent/shared record d/job d/samples s/program",
    "dynamic/launch": "record d/job d/failures s/program s/launch_files",
    "dynamic/samples": "agent/shared record record/marks d/job s/program s/torch_code",
    "dynamic/steps": "record record/marks d/job d/samples s/program",
    "dynamic/exit_status": "record d/job d/failures d/launch s/program s/launch_files",
    "dynamic/trace": "record d/job d/collectives",
    "top": "agent/shared m/processes record report d/collectives",
    "export": "",
    "manual": "",
    "export/formats": "agent/shared export",
    "report": "",
    "report/html": "",
    "report/check_sections": "report",
    "report/run_sections": "report",
    "diagnosis": (
        "record report m/execution d/job d/collectives d/divergence d/stall d/failures d/replicas d/exit_status "
        "d/launch d/samples d/steps d/trace s/dataflow s/launch_files"
    ),
    "diagnosis/crash": "diagnosis record d/job d/collectives d/divergence d/stall d/failures d/model d/launch",
    "diagnosis/hang": "diagnosis record d/job d/collectives d/divergence d/stall d/launch",
    "diagnosis/launch": "diagnosis record d/job d/failures d/model d/launch s/launch_files",
    "diagnosis/kept_models": "diagnosis record/marks d/job d/replicas",
    "diagnosis/loading": "diagnosis record record/marks d/job d/exit_status d/replicas d/samples",
    "diagnosis/losses": "diagnosis record/marks d/job d/replicas",
    "diagnosis/lies": (
        "diagnosis record d/job d/failures d/exit_status d/replicas s/program s/torch_code s/launch_files"
    ),
    "diagnosis/randomness": "diagnosis record/marks d/job d/replicas",
    "diagnosis/schedules": "diagnosis record record/marks d/job d/model d/replicas",
    "diagnosis/silent": "diagnosis record d/job d/collectives d/divergence d/model d/replicas d/samples",
    "diagnosis/slow": "diagnosis d/job d/replicas d/samples d/steps record record/marks",
    "diagnosis/source": "diagnosis audit d/job record s/program",
    "diagnosis/storage": "diagnosis d/job d/failures d/model",
    "diagnosis/training": "agent/shared diagnosis record d/job d/model d/replicas s/program s/torch_code",
    "diagnosis/updates": "diagnosis record record/marks d/job d/replicas d/samples d/steps",
    "diagnosis/wrapper": "diagnosis d/job d/failures d/model d/replicas",
    "supervisor/capture": "agent/shared machine m/host m/processes record d/launch s/program",
    "supervisor/hang": "agent/shared diagnosis m/processes record d/job d/collectives supervisor/capture",
    "supervisor": (
        "cluster diagnosis m/processes m/execution record report d/job s/program supervisor/capture supervisor/hang"
    ),
    "attach": "diagnosis machine m/processes record report d/job d/stall supervisor/capture supervisor/hang",
    "audit": "s/program s/launch_files s/execution",
    "audit/suppression": "audit s/program",
    "audit/output": "audit report s/program",
    "audit/ordering": (
        "agent/shared audit s/program s/dataflow s/spmd s/ordering s/torch_code s/execution s/executed "
        "s/executed/checkpoints s/executed/models"
    ),
    "audit/setup": (
        "agent/shared audit s/program s/dataflow s/spmd s/torch_code s/launch_files s/execution s/executed "
        "s/executed/loading s/executed/models s/executed/steps"
    ),
    "audit/collectives": (
        "agent/shared audit s/program s/dataflow s/spmd s/autograd s/execution s/executed s/executed/loading "
        "s/executed/models s/executed/steps"
    ),
    "audit/exchange": (
        "agent/shared audit s/program s/dataflow s/spmd s/autograd s/torch_code s/execution s/executed s/executed/steps"
    ),
    "audit/autograd": (
        "agent/shared audit s/program s/dataflow s/autograd s/torch_code s/execution s/executed s/executed/models "
        "s/executed/steps"
    ),
    "audit/devices": (
        "audit s/program s/dataflow s/torch_code s/execution s/executed s/executed/loading s/executed/checkpoints"
    ),
    "audit/checkpoints": "audit s/program s/dataflow s/torch_code s/execution s/executed/checkpoints",
    "audit/data": ("audit s/program s/dataflow s/ordering s/torch_code s/launch_files s/execution s/executed/loading"),
    "audit/metrics": "audit s/program s/execution s/executed/steps",
    "audit/losses": "agent/shared audit s/program s/dataflow s/samples s/torch_code s/execution s/executed/models",
    "audit/models": "audit s/program s/dataflow s/samples s/torch_code s/execution s/executed/models",
    "audit/updates": "audit s/program s/dataflow s/torch_code s/launch_files s/execution s/executed/steps",
    "audit/signals": "audit s/program s/dataflow s/launch_files",
    "audit/failures": (
        "audit s/program s/dataflow s/samples s/spmd s/torch_code s/launch_files s/launch_files/failing s/execution "
        "s/executed s/executed/steps"
    ),
    "audit/scripts": "audit s/program s/launch_files",
    "audit/launch": "agent/shared audit s/program s/dataflow s/launch_files s/execution s/executed",
    "editor": "audit s/program",
    "inspection": "adapter machine record report d/job d/failures",
    "inspection/checks": "inspection",
    "parity": "machine record report",
    "parity/hypotheses": "parity",
    "hosts": "",
    "preflight": "adapter hosts machine record report",
    "preflight/several_hosts": "hosts machine preflight",
    "preflight/host": "preflight machine",
    "preflight/rendezvous": "preflight machine m/execution record s/launch_files s/program",
    "preflight/collectives": "preflight machine",
    "preflight/device": "preflight machine",
    "preflight/data": "adapter preflight machine",
    "preflight/model": "adapter preflight machine record d/job d/failures",
    "perf": "diagnosis record d/job d/samples d/steps",
    "bisection": "machine preflight report d/job supervisor/capture",
    "bisection/search": "bisection",
    "bisection/tries": "adapter bisection machine m/execution record d/job",
    "bisection/repro": "adapter bisection machine s/slicing bisection/tries",
    "bisection/environments": "bisection machine bisection/repro bisection/search bisection/tries",
    "bisection/report": "bisection report bisection/search",
    "bisection/targets": (
        "adapter bisection diagnosis machine m/execution record report bisection/report bisection/search "
        "bisection/tries"
    ),
    "cache": "",
    "cache/pickles": "cache",
    "cache/archives": "cache cache/pickles",
    "cache/rewriting": "cache cache/archives cache/pickles",
    "cache/formats": "cache cache/archives cache/pickles cache/rewriting",
    "cache/folder_checks": "cache",
    "cache/scan": "cache cache/folder_checks cache/formats",
    "cluster": "m/processes record",
    "triage/decoding": "",
    "triage/readers": "record triage triage/decoding",
    "triage": "agent/shared triage/decoding",
    "triage/verdicts": "triage triage/decoding",
    "cache/repair": "adapter report machine m/host m/processes cache cache/formats cache/scan",
}
AGENT_ARROWS = {
    "shared": "",
    "": "shared",
    "process_hooks": " shared",
    "torch_hooks": " shared",
    "data_hooks": " shared torch_hooks",
    "object_hooks": " shared torch_hooks",
    "gradient_hooks": " torch_hooks",
    "loss_graphs": "torch_hooks",
    "model_hooks": " torch_hooks",
    "function_hooks": " torch_hooks loss_graphs",
    "schedule_hooks": " torch_hooks",
    "training_hooks": (
        " shared torch_hooks object_hooks gradient_hooks loss_graphs model_hooks function_hooks schedule_hooks"
    ),
    "capturing": " shared torch_hooks",
    "parity": " torch_hooks",
}
LONG = {"agent": "agent", "s": "static", "d": "dynamic", "m": "machine"}
PLUGINS = {
    "audit": "CODE", "cache/formats": "CODE", "cache/folder_checks": "CODE", "diagnosis": "CODE",
    "inspection/checks": "CODE", "parity/hypotheses": "CODE", "preflight": "CODE",
    "report/check_sections": "ORDER", "report/run_sections": "ORDER", "export/formats": "FORMAT",
    "triage/readers": "KIND", "triage/verdicts": "ORDER",
}  # fmt: skip
MOST_FILES = 25  # in one folder
MOST_LINES = 350  # of one file


def files(package: str) -> list[Path]:
    return sorted((PROJECT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True, slots=True)
class Source:
    """What the tests ask of a file: its parse tree takes a second of each test's, and more memory than all of these."""

    docstring: str
    imports: tuple[str, ...]  # also inside functions; `from a import b` gives a and a.b
    calls: tuple[str, ...]
    classes: tuple[str, ...]


@cache
def source_of(path: Path) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    return Source(
        docstring=ast.get_docstring(tree) or "",
        imports=tuple(name for node in nodes for name in imported_by(node, package)),
        calls=tuple(name for node in nodes if isinstance(node, ast.Call) if (name := dotted(node.func))),
        classes=tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
    )


def imported_by(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.rsplit(".", node.level - 1)[0] if node.level else ""
        module = ".".join(filter(None, [above, node.module]))
        yield module
        yield from (f"{module}.{alias.name}" for alias in node.names)


def dotted(node: ast.expr) -> str:
    """Returns `a.b.c` as it is written, `.c` for a member of anything else, "" for what has no name."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def imported(path: Path) -> tuple[str, ...]:
    return source_of(path).imports


def part(module: str) -> str:
    """Returns the second name: `diagnostics.audit.rule` belongs to `audit`."""
    return module.split(".")[1] if "." in module else ""


MODULES = {name_of(path): path for path in files("diagnostics")}
DOCTOR = [path for path in files("diagnostics") if part(name_of(path)) not in IN_THE_JOB]
AGENT = [path for path in files("diagnostics/agent") if path.parent.name != "site"]
TRAINER = files("ups")


def folder_of(path: Path) -> str:
    return "/".join(path.relative_to(PROJECT).parts[1:-1])


def arrows(path: Path) -> set[str]:
    """Returns the folders below diagnostics/ that a file imports from, without its own and core/."""
    found = {folder_of(MODULES[module]) for module in imported(path) if module in MODULES and "." in module}
    if name_of(path).removeprefix("diagnostics.") in ENGINES:
        found = {other for other in found if not other.startswith(f"{folder_of(path)}/")}
    return found - {folder_of(path), "core"}


def allowed(folder: str) -> set[str]:
    words = (word.split("/", 1) for word in ARROWS[folder].split())
    return {"/".join([LONG.get(first, first), *rest]) for first, *rest in words}


def offences(paths: list[Path], wrong: Callable[[Path, str], bool]) -> list[str]:
    return [
        f"{path.relative_to(PROJECT)} imports {module}"
        for path in paths
        for module in imported(path)
        if wrong(path, module)
    ]


def test_a_folder_imports_what_the_table_of_arrows_allows() -> None:
    above = ("", "commands")  # the command line: it may import every engine
    found = [
        f"{path.relative_to(PROJECT)} imports {other}"
        for path in DOCTOR
        if folder_of(path) not in above and path.name != "__init__.py"
        for other in sorted(arrows(path) - allowed(folder_of(path)))
    ]
    assert found == []


def test_the_table_of_arrows_allows_nothing_that_nobody_uses() -> None:
    used = defaultdict(set)
    for path in DOCTOR:
        used[folder_of(path)] |= arrows(path)
    assert {folder: sorted(allowed(folder) - used[folder]) for folder in ARROWS if allowed(folder) - used[folder]} == {}


def test_the_arrows_run_in_no_circle() -> None:
    TopologicalSorter({folder: allowed(folder) - {"agent/shared"} for folder in ARROWS}).prepare()


def test_static_analysis_knows_no_job_and_the_linter_no_record() -> None:
    for folder in ARROWS:
        seen = {other.partition("/")[0] for other in allowed(folder)}
        if folder.startswith("static/"):
            assert seen <= {"static", "agent"}, folder
        if folder.startswith("audit"):
            assert not seen & {"dynamic", "record", "diagnosis", "supervisor"}, folder
        if folder.startswith("report"):
            assert seen <= {"report"}, folder


def test_a_part_of_the_agent_imports_the_parts_below_it_only() -> None:
    inside = {path: folder_of(path).partition("/")[2] for path in AGENT}
    found = []
    for path, own in inside.items():
        may = {own, *AGENT_ARROWS[own].split(" ")}
        parts = {
            inside[MODULES[one]]
            for one in imported(path)
            if one in MODULES and MODULES[one] in inside and one != "diagnostics.agent"
        }
        if name_of(path) != "diagnostics.agent.boot":  # it starts all of them
            found += [f"{path.relative_to(PROJECT)} imports {other}" for other in sorted(parts - may)]
    assert found == []


def test_the_doctor_imports_no_torch_no_h5py_and_no_trainer() -> None:
    assert offences(DOCTOR, lambda path, module: module.split(".")[0] in OUTSIDE) == []


def test_the_agent_and_the_children_import_nothing_of_ours() -> None:
    def wrong(path: Path, module: str) -> bool:
        own = f"diagnostics.{part(name_of(path))}"
        ours = module.split(".")[0] in {"diagnostics", "ups", "click", "rich"}
        return ours and not f"{module}.".startswith(f"{own}.")

    inside = [path for path in files("diagnostics") if part(name_of(path)) in IN_THE_JOB]
    assert offences(inside, wrong) == []


@pytest.mark.parametrize("package", PLUGINS)
def test_no_plugin_imports_another_plugin(package: str) -> None:
    plugins = {
        name_of(path) for path in files(f"diagnostics/{package}") if f"\n{PLUGINS[package]} = " in path.read_text()
    }
    assert len(plugins) > 3
    paths = [path for path in DOCTOR if name_of(path) in plugins]
    assert offences(paths, lambda path, module: module in plugins) == []


def test_plugins_of_one_hundred_stand_in_one_folder() -> None:
    folders = defaultdict(set)
    for package in ("audit", "diagnosis", "preflight"):
        for path in files(f"diagnostics/{package}"):
            for line in path.read_text().splitlines():
                if line.startswith("CODE = "):
                    folders[line[8:10]].add(path.parent.name)
    assert {code: found for code, found in folders.items() if len(found) > 1} == {
        "A1": {"ordering", "setup", "data", "updates"},
        "A2": {"collectives", "exchange", "metrics"},
        "A3": {"autograd", "checkpoints", "losses", "models", "updates"},
        "A4": {"devices", "checkpoints"},
        "A5": {"failures", "launch"},
        "A6": {"launch", "scripts", "signals"},
        "D9": {"kept_models", "loading", "losses", "randomness", "schedules", "source", "training", "updates"},
    }


def test_rules_read_files_and_the_project_and_nothing_else() -> None:
    paths = [path for path in files("diagnostics/audit") if "\nCODE = " in path.read_text()]
    disk = {"os", "pathlib.Path", "subprocess", "socket", "shutil"}
    assert offences(paths, lambda path, module: module in disk) == []


def test_only_commands_and_the_command_line_know_click() -> None:
    may = {"commands", "cli", "command_folder", "argument_types"}
    paths = [path for path in DOCTOR if part(name_of(path)) not in may and path.stem != "console"]
    assert offences(paths, lambda path, module: module.split(".")[0] in {"click", "rich"}) == []


def test_text_goes_out_to_the_terminal_in_one_place() -> None:
    outlets = {"print", "click.echo", "click.secho", "click.confirm", "click.prompt"}
    outlets |= {f"sys.{stream}{part}.write" for stream in ("stdout", "stderr") for part in ("", ".buffer")}
    found = [
        f"{name_of(path)} calls {called}" for path in DOCTOR for called in source_of(path).calls if called in outlets
    ]
    assert found == ["diagnostics.core.console calls click.confirm"]


def test_nothing_but_the_command_line_imports_commands() -> None:
    paths = [path for path in DOCTOR if part(name_of(path)) not in {"commands", "cli"}]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.commands")) == []


def test_commands_import_no_other_command() -> None:
    paths = [path for path in DOCTOR if part(name_of(path)) == "commands"]
    assert offences(paths, lambda path, module: module.startswith("diagnostics.commands.")) == []


def test_real_machines_are_made_in_one_place() -> None:
    found = [
        name_of(path)
        for path in DOCTOR
        for called in source_of(path).calls
        if called.rpartition(".")[2] == "this_machine"
    ]
    assert found == ["diagnostics.machine.this"]


def test_the_trainer_uses_the_public_part_of_the_doctor_only() -> None:
    def wrong(path: Path, module: str) -> bool:
        return module.startswith("diagnostics") and part(module) not in {"", "api"}

    assert offences(TRAINER, wrong) == []


@pytest.mark.parametrize("package", ["diagnostics", "ups"])
def test_imports_run_in_no_circle(package: str) -> None:
    modules = {name_of(path): path for path in files(package) if path.parent.name != "site"}
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


def test_no_folder_has_more_files_than_one_looks_through() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
    # A folder of folders counts as well: what lies flat beside each other is what one looks through.
    entries: dict[str, set[str]] = defaultdict(set)
    for name in filter(None, listed.stdout.split("\0")):
        folder, _, file = name.rpartition("/")
        entries[folder].add(file)
    assert {folder: len(found) for folder, found in entries.items() if len(found) > MOST_FILES} == {}


def test_no_file_is_longer_than_one_idea() -> None:
    sizes = {
        str(path.relative_to(PROJECT)): len(path.read_text().splitlines()) for path in [*MODULES.values(), *TRAINER]
    }
    # One loop, which reads from top to bottom.
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {"ups/train.py": sizes["ups/train.py"]}


def test_every_folder_says_what_lives_in_it() -> None:
    mute = [
        path
        for path in DOCTOR
        if path.name == "__init__.py" and folder_of(path) and not path.read_text().startswith('"""')
    ]
    assert mute == []


def test_one_public_class_has_one_name() -> None:
    names = Counter(name for path in DOCTOR for name in source_of(path).classes if not name.startswith("_"))
    assert sorted(name for name, count in names.items() if count > 1) == []


def test_the_codes_of_a_folder_are_those_of_its_sign() -> None:
    wrong = []
    for package in ("audit", "diagnosis", "preflight"):
        for sign in sorted((PROJECT / "diagnostics" / package).glob("*/__init__.py")):
            lines = [line for path in sign.parent.glob("*.py") for line in path.read_text().splitlines()]
            said = re.findall(r"\b([A-Z]\d)(?:xx|\d\d)\b", sign.read_text())
            codes = [line[8:12] for line in lines if line.startswith('CODE = "')]
            wrong += [f"{sign.parent.name}: {code}" for code in sorted(codes) if code[:2] not in said]
    assert wrong == ["suppression: A001", "suppression: A002"]  # about comments, whatever their codes


def test_paths_in_pages_and_docstrings_exist() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
    names = [name.split("/") for name in listed.stdout.split("\0") if name]
    there = {"/".join(parts[start:]) for parts in names for start in range(len(parts))}
    there |= {"/".join(parts[start:end]) + "/" for parts in names for end in range(len(parts)) for start in range(end)}
    of_a_run = {"agents/", "captures/", "sources/", "record/before/", "plots/", "tensorboard/", "val/"}
    pages = {name: (PROJECT / name).read_text() for name in ("README.md", "ARCHITECTURE.md", "tests/README.md")}
    heads = {name_of(path): source_of(path).docstring for path in [*DOCTOR, *TRAINER]}
    found = [
        f"{name}: {path}"
        for name, text in {**pages, **heads}.items()
        for path in re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9.-]+)*(?:\.py|/))`", text)
        if path not in there | of_a_run
    ]
    assert found == []


def test_programs_that_stand_in_texts_of_tests_import_what_there_is() -> None:
    texts = {name: path.read_text() for name, path in MODULES.items()}
    wrong = [
        f"{path.relative_to(PROJECT)}: from {module} import {name}"
        for path in files("tests")
        for module, names in re.findall(r"^from (diagnostics[\w.]*) import ([\w, ]+)$", path.read_text(), re.MULTILINE)
        for name in re.findall(r"\w+", re.sub(r"\bas \w+", "", names))
        if module in texts and not re.search(rf"\b{name}\b", texts[module]) and f"{module}.{name}" not in MODULES
    ]
    assert wrong == []
