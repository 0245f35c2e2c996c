"""The table of what library calls do between ranks, held against the libraries: their source, and two real ranks."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.static.spmd.library_calls import FLAGS, FUNCTIONS, KEPT_TO_ONE, METHODS, QUIET, LibraryCall

IN_RANKS = Path(__file__).parent / "library_calls_in_ranks.py"
ROWS: list[LibraryCall] = [
    *FUNCTIONS.values(),
    *METHODS.values(),
    *FLAGS.values(),
    *KEPT_TO_ONE.values(),
    *QUIET.values(),
]
LIBRARIES = sorted({row.library.partition(" ")[0] for row in ROWS})


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_row_names_a_place_that_its_library_has(library: str) -> None:
    found = importlib.util.find_spec(library)
    if found is None or not found.origin:
        pytest.skip(f"{library} is not installed")
    home = Path(found.origin).parent.parent
    places = [row.shown.partition(":")[::2] for row in ROWS if row.library.startswith(f"{library} ")]
    assert [(file, name) for file, name in places if name not in _defined(home / file)] == []


def _defined(file: Path) -> set[str]:
    """Returns the functions that a file defines, also those of a method's own name in a class."""
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.parse("")
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_torch_waits_where_the_table_says_so_and_nowhere_else(tmp_path: Path) -> None:
    assert _waited("torch", tmp_path) == {
        "barrier": True,
        "DDP forward": True,
        "DDP forward without gradients, the first": True,
        "DDP forward without gradients, the next": False,
        "DDP forward without gradients or buffers": False,
        "get_model_state_dict of a model that is not sharded": False,
        "init_device_mesh of one dimension": False,
        "set_model_state_dict of a model that is not sharded": False,
        "set_model_state_dict with broadcast_from_rank0": True,
        "checkpoint.save": True,
        "checkpoint.load": True,
    }


@pytest.mark.parametrize("rank", [0, 1])
def test_rank_zero_only_runs_its_function_on_rank_0_alone(rank: int) -> None:
    if importlib.util.find_spec("lightning_utilities") is None:
        pytest.skip("lightning_utilities is not installed")
    from lightning_utilities.core.rank_zero import rank_zero_only

    rank_zero_only.rank = rank
    assert rank_zero_only(lambda: "ran")() == ("ran" if rank == 0 else None)


def test_accelerate_waits_where_the_table_says_so_and_nowhere_else(tmp_path: Path) -> None:
    if importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")
    assert _waited("accelerate", tmp_path) == {
        "wait_for_everyone": True,
        "gather": True,
        "gather_for_metrics": True,
        "reduce": True,
        "pad_across_processes": True,
        "save_state of a model that is not sharded": False,
        "main_process_first": True,
        "utils.broadcast": True,
        "utils.gather_object": True,
        "get_state_dict of a model that is not sharded": False,
        "optimizer.zero_grad": False,
        "save": False,
    }


def _waited(library: str, folder: Path) -> dict[str, bool]:
    """Returns whether rank 1 waits for rank 0 in each call."""
    shared = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "1"}
    shared["MASTER_PORT"] = str(_free_port())
    ranks = [
        subprocess.Popen(
            [sys.executable, str(IN_RANKS), str(folder), library],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [one.communicate(timeout=600)[0] for one in ranks]
    finally:
        for one in ranks:
            one.kill()  # where time was up; one that has ended is left alone
            one.wait()
    assert [one.returncode for one in ranks] == [0, 0], "\n".join(said)
    answer: dict[str, bool] = json.loads((folder / "waited.json").read_text())
    return answer


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
