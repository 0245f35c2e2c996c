"""Whether a project is started on several machines, as its launch files and options say. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.launch_files.embedded_scripts import Script
from diagnostics.static.launch_files.launcher_commands import Launch
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

_NODES = re.compile(
    r"(?:--nnodes|--num[_-]nodes|--nodes|--num_machines|^#SBATCH\s+-N|\bsrun\s+-N|\bnum_machines:|\bnnodes:|\bnum_nodes:)"
    r"[ =]+[\"']?(?P<count>\d+(?::\d+)?|\$\{?\w+)",
    re.MULTILINE,
)
_OPTIONS = frozenset(["nnodes", "num_nodes", "node_rank", "n_nodes", "SLURM_NNODES", "SLURM_NODEID", "GROUP_RANK"])


class NodeCounts:
    """What a project says of machines."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files = tuple(one for one in project.audited if one.kind is not FileKind.PYTHON)

    def place(self) -> tuple[ProjectFile, int] | None:
        """Returns where a launch file asks for more than one machine."""
        for file in self._files:
            for found in _NODES.finditer(file.text or ""):
                if _is_several(found["count"]):
                    return file, (file.text or "").count("\n", 0, found.start()) + 1
        return None

    def submitted(self) -> tuple[ProjectFile, int] | None:
        """Returns where submitit is asked for more than one machine, as it is written or by an option's default."""
        for call, function in self._project.calls_by_name.get("update_parameters", ()):
            for given in (one.value for one in call.keywords if one.arg in ("nodes", "slurm_nodes", "num_nodes")):
                made = [one for one, _ in origins(given, function, self._project)]
                counts: list[object] = [one.value for one in made if isinstance(one, ast.Constant)]
                counts += self._defaults(given.attr) if isinstance(given, ast.Attribute) else []
                if any(isinstance(one, int) and one > 1 for one in counts):
                    return self._project.file_with(function), call.lineno
        return None

    def _defaults(self, option: str) -> list[object]:
        """Returns what the options of this name are where nobody gives them: `add_argument("--nodes", default=4)`."""
        return [
            one.value.value
            for call, _ in self._project.calls_by_name.get("add_argument", ())
            if any(isinstance(name, ast.Constant) and str(name.value).lstrip("-").replace("-", "_") == option
                   for name in call.args)
            for one in call.keywords
            if one.arg == "default" and isinstance(one.value, ast.Constant)
        ]  # fmt: skip

    def may_be_several(self, file: str) -> bool:
        """Whether a launch file says so, or the program itself has an option for the number of machines."""
        return self.place() is not None or bool(_OPTIONS & self._project.fact(ImportClosures).words(file))


def _is_several(count: str) -> bool:
    if count.startswith("$"):
        return True  # a number of machines that can be chosen
    return int(count.rpartition(":")[2]) > 1


def machines_of(script: Script, launch: Launch) -> int | None:
    """Returns how many machines a launch is for: as it says, else as the head of the Slurm script does."""
    asked = script.header("nodes")
    here = int(asked.value) if asked is not None and asked.value.isdigit() else None
    said = launch.option("--nnodes", "--num-machines")
    return here if said.startswith("$") or not said else launch.machines
