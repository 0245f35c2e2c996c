"""The table of operations: what torch declares, and that a new row is all that agent, linter and diagnosis need."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from new_operation import doctor_with_row

from diagnostics.agent.shared import operations

LINTER = """
import ast, importlib, json, sys
from pathlib import Path
from diagnostics.agent.shared import operations
from diagnostics.audit.engine import audit
from diagnostics.static.program.project_file import FileKind, ProjectFile

def rule(folder, file):
    return importlib.import_module("diagnostics.audit." + folder + "." + file)

source = Path(sys.argv[1]).read_bytes()
rules = {one.CODE: one for one in (
    rule("collectives", "collective_under_rank_guard"),
    rule("collectives", "collective_argument_differs_by_rank"),
    rule("ordering", "call_outside_group_lifetime"),
    rule("exchange", "result_in_temporary"),
    rule("exchange", "work_never_waited_for"),
)}
found = audit([ProjectFile("train.py", source, FileKind.PYTHON)], rules).found
linter = [f"{one.hit.line} {one.code} {one.hit.title}" for one in found]
"""
DIAGNOSIS = """
from diagnostics.dynamic.collectives.collective_signature import mismatch
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import find_deadlock
from diagnostics.static.program.distributed_names import is_distributed_call

def at(rank, op, shape, slot):
    wait = PendingOperation(kind=OperationKind.COLLECTIVE, op=op, group="0", ranks=(0, 1), slot=slot, shape=shape,
                            dtype="float32", root=0)
    return RankState(rank=rank, pid=rank, at_s=1.0, stand=Whereabouts.WAITING, waits=(wait,), reached={"0": slot + 1})

two = find_deadlock((at(0, "all_shuffle", "8", 7), at(1, "all_shuffle", "9", 7)))
call = ast.parse("dist.all_shuffle(x)").body[0].value
diagnosis = {
    "deadlock": [two.knot, two.ranks, [one.what for one in two.disagreements]] if two is not None else None,
    "alike": mismatch(("all_shuffle", "8", "f", 0), ("all_shuffle", "8", "f", 0)),
    "a stop of the flow": is_distributed_call(call, frozenset({"dist"})),
    "wrapped by the agent": "all_shuffle" in operations.ALL,
}
print(json.dumps({"linter": linter, "diagnosis": diagnosis}))
"""
TRAIN = """import torch
import torch.distributed as dist

dist.all_shuffle(torch.zeros(1))
dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    dist.all_shuffle(torch.zeros(1))
dist.all_shuffle(torch.zeros(1), rank)
loss = torch.ones(rank)
dist.all_shuffle(loss.clone())
print(loss)
dist.destroy_process_group()

def begin(loss):
    dist.all_shuffle(loss, async_op=True)
"""
SHUFFLED = """
def all_shuffle(tensor, src=None, op=None, group=None, async_op=False):
    return broadcast(tensor, src, group, async_op)
"""
ROW = 'Row("all_shuffle", "tensor src op group async_op", SIZE, in_place=True)'


def _declared() -> list[ast.FunctionDef]:
    """Returns the functions of the installed source: importing torch takes seconds."""
    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.submodule_search_locations
    path = Path(found.submodule_search_locations[0]) / "distributed/distributed_c10d.py"
    return [one for one in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(one, ast.FunctionDef)]


def test_torch_declares_the_parameters_at_the_places_of_the_table() -> None:
    declared = {node.name: tuple(one.arg for one in node.args.args) for node in _declared()}
    known = {name: given for name, given in operations.PARAMETERS.items() if name in declared}
    assert len(known) > 25
    assert {name: declared[name][: len(given)] for name, given in known.items()} == known


LOGGED = {"_exception_logger", "_time_logger"}  # torch decorates its operations so
# The first two make the default group; the ranks that are left out do not call the last.
NO_MEETINGS_OF_A_GROUP = {"init_process_group", "_store_based_barrier", "shrink_group"}


def test_each_operation_of_the_installed_torch_stands_in_the_table() -> None:
    logged = {
        node.name
        for node in _declared()
        if any(isinstance(one, ast.Name) and one.id in LOGGED for one in node.decorator_list)
    }
    assert len(logged) > 25
    assert logged - set(operations.MEETINGS) - NO_MEETINGS_OF_A_GROUP == set()


def test_each_operation_stands_in_the_table_once() -> None:
    assert len(set(operations.ALL)) == len(operations.ALL)
    assert {*operations.COLLECTIVES, *operations.POINT_TO_POINT, *operations.NOT_COUNTED} == set(operations.ALL)


# Methods of other libraries, which have the names of torch's operations.
OF_LIBRARIES = "static/program/project.py"


def test_the_table_is_the_only_place_that_lists_operations() -> None:
    doctor = Path(operations.__file__).parents[2]
    lists = [
        f"{path.relative_to(doctor)}:{node.lineno}"
        for path in sorted(doctor.rglob("*.py"))
        if path != Path(operations.__file__) and "children" not in path.parts and path != doctor / OF_LIBRARIES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)) and _lists_operations(node)
    ]
    assert lists == []


def _lists_operations(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> bool:
    """Whether two operations are named, one of them unmistakably: send and recv alone may be a socket's."""
    parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
    texts = {one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    named = {text.removeprefix("torch.distributed.") for text in texts}
    known = named & {*operations.UNMISTAKABLE, *operations.COMMON_NAMES}
    return len(known) > 1 and not known.isdisjoint(operations.UNMISTAKABLE)


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ('("all_reduce", "reduce")', True),
        ('{"gather_object": "object_gather_list", "gather": "gather_list"}', True),
        ('{1: "torch.distributed.isend", 2: "torch.distributed.irecv"}', True),
        ('["send", "recv", "gather"]', False),
        ('{"barrier": "barrier"}', False),
    ],
)
def test_what_counts_as_a_list_of_operations(text: str, lists: bool) -> None:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, (ast.Tuple, ast.List, ast.Dict))
    assert _lists_operations(node) is lists


def _asked(row: str, folder: Path) -> dict[str, object]:
    folder.mkdir()
    source = folder / "train.py"
    source.write_text(TRAIN)
    argv = [sys.executable, "-c", LINTER + DIAGNOSIS, str(source)]
    done = subprocess.run(
        argv, cwd=doctor_with_row(row, folder), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_a_new_row_is_all_that_linter_and_diagnosis_need(tmp_path: Path) -> None:
    assert _asked(ROW, tmp_path / "with") == {
        "linter": [
            "4 A113 all_shuffle() runs before init_process_group at train.py:5: it raises",
            "8 A201 all_shuffle() stands under a test of the rank: the ranks that do not come here leave the others "
            "waiting until the timeout",
            "9 A215 src=rank of all_shuffle() is 0 on rank 0 and 1 on rank 1: ranks that name other roots wait for "
            "each other or keep their own data",
            "11 A228 all_shuffle() writes its result into loss.clone(), a tensor that is made here and has no name: "
            "nobody can read what the ranks exchanged",
            "16 A218 all_shuffle() comes back before anything is exchanged, and its handle is dropped: what uses the "
            "tensor next may find its old values",
        ],
        "diagnosis": {
            "deadlock": ["mismatch", [0, 1], ["size"]],
            "alike": "",
            "a stop of the flow": True,
            "wrapped by the agent": True,
        },
    }
    assert _asked("", tmp_path / "without") == {
        "linter": [],
        "diagnosis": {"deadlock": None, "alike": "", "a stop of the flow": False, "wrapped by the agent": False},
    }


def test_a_new_row_is_all_that_the_agent_needs(with_operation: Callable[..., list[tuple[object, ...]]]) -> None:
    calls = "dist.all_shuffle(torch.ones(2, 3), 1)\ndist.all_shuffle(torch.ones(4), src=0, async_op=True).wait()"
    assert with_operation(SHUFFLED, calls, ROW) == [
        ("all_shuffle", "0", "2x3", "float32", 1),
        ("all_shuffle", "0", "4", "float32", 0),
        ("wait", "0", "4", "float32", 0),
    ]
