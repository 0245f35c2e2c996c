"""The table of what launchers set, held against the launchers: their source, and what a rank finds in them."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.static.launch_files.launcher_environments import EXPORTERS, LAUNCHERS, LauncherEnvironment
from diagnostics.static.launch_files.rank_environment import RANK_NAMES

OF_TORCH = {*RANK_NAMES, "LOCAL_WORLD_SIZE"}
TELLS = "import json, os; print(json.dumps(sorted(os.environ)))"
SUBMITIT = {
    "SUBMITIT_EXECUTOR": "local",
    "SUBMITIT_LOCAL_JOB_ID": "12",
    "SUBMITIT_LOCAL_NTASKS": "2",
    "SUBMITIT_LOCAL_JOB_NUM_NODES": "1",
    "SUBMITIT_LOCAL_NODEID": "0",
    "SUBMITIT_LOCAL_GLOBALID": "1",
    "SUBMITIT_LOCAL_LOCALID": "1",
}


@pytest.mark.parametrize("row", [*LAUNCHERS.values(), *EXPORTERS.values()], ids=lambda row: row.shown)
def test_every_row_names_a_place_that_its_library_has(row: LauncherEnvironment) -> None:
    found = importlib.util.find_spec(row.library.partition(" ")[0])
    if found is None or not found.origin:
        pytest.skip(f"{row.library} is not installed")
    file, name = row.shown.split(":")
    tree = ast.parse((Path(found.origin).parent.parent / file).read_text(encoding="utf-8"))
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_torchrun_sets_what_the_table_says(tmp_path: Path) -> None:
    program = tmp_path / "tells.py"
    program.write_text(TELLS)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", str(program)]
    assert _found(launch) == LAUNCHERS["torchrun"].sets


def test_hydra_sets_nothing_that_torch_reads(tmp_path: Path) -> None:
    if importlib.util.find_spec("hydra") is None:
        pytest.skip("hydra is not installed")
    program = tmp_path / "tells.py"
    program.write_text(
        f"import hydra\n\n@hydra.main(config_path=None, version_base=None)\ndef main(cfg):\n    {TELLS}\n\nmain()\n"
    )
    assert _found([str(program), f"hydra.run.dir={tmp_path}"]) == LAUNCHERS["hydra.main"].sets


def test_submitit_sets_what_torch_reads_only_where_it_is_asked_to() -> None:
    if importlib.util.find_spec("submitit") is None:
        pytest.skip("submitit is not installed")
    asked = f"import submitit; assert submitit.JobEnvironment().global_rank == 1; {TELLS}"
    exported = f"from submitit.helpers import TorchDistributedEnvironment as E; E().export(); {TELLS}"
    assert _found(["-c", asked], SUBMITIT) == LAUNCHERS["submitit"].sets
    assert _found(["-c", exported], SUBMITIT) == EXPORTERS["submitit.helpers.TorchDistributedEnvironment"].sets


def _found(arguments: list[str], more: dict[str, str] | None = None) -> set[str]:
    """Returns the variables of ranks that a program finds."""
    clean = {name: value for name, value in os.environ.items() if name not in OF_TORCH}
    said = subprocess.run(
        [sys.executable, *arguments],
        env={**clean, **(more or {}), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return OF_TORCH & set(json.loads(said.splitlines()[-1]))
