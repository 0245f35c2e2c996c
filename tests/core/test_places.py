"""No frame of the doctor's, of a launcher or of the interpreter is a place; a file of the user's always may be."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hand_made import agent, event
from hypothesis import given
from hypothesis import strategies as st

from diagnostics.core import frame_owners as homes_module
from diagnostics.core.frame import Frame, Owner
from diagnostics.core.frame_owners import Homes
from diagnostics.core.frames import telling_frames, user_frames
from diagnostics.diagnosis.engine import ask
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.job_builder import JobInputs, build_job
from diagnostics.record.agent_data import AgentData, homes_of
from diagnostics.record.process_samples import FILE_NAME
from diagnostics.record.stacks import frames_from_json, parse_fault_report
from diagnostics.record.supervisor_facts import End, SeenProcess, SupervisorFacts

AGENT = "/env/lib/python3.11/site-packages/diagnostics/agent"
FOLDERS: dict[str, Any] = {
    "agent_folder": AGENT, "stdlib": "/usr/lib/python3.11", "executable": "/env/bin/python", "cwd": "/home/me/job",
    "packages": ("/env/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages"),
}  # fmt: skip
SITE = FOLDERS["packages"][0]
NEVER = [
    f"{AGENT}/modules.py", f"{AGENT}/steps.py", f"{AGENT}/site/sitecustomize.py", f"{AGENT}/capturing/hooks.py",
    f"{SITE}/diagnostics/children/host.py", f"{SITE}/diagnostics/children/tasks/values.py",
    "<frozen runpy>", "<frozen importlib._bootstrap>", "<string>", "<__array_function__ internals>",
    "/usr/lib/python3.11/runpy.py", "/usr/lib/python3.11/threading.py", "<eval_with_key>.3",
    "/usr/lib/python3.11/multiprocessing/process.py",
    "/usr/lib/python3.11/concurrent/futures/thread.py", "/env/bin/torchrun", "/env/bin/accelerate",
    f"{SITE}/torch/distributed/run.py", f"{SITE}/torch/distributed/elastic/agent/server/api.py",
    f"{SITE}/torch/distributed/launcher/api.py", f"{SITE}/accelerate/commands/launch.py",
    f"{SITE}/deepspeed/launcher/launch.py", f"{SITE}/torch/nn/modules/module.py", f"{SITE}/torch/optim/sgd.py",
]  # fmt: skip
USERS = [
    "/home/me/job/train.py", "train.py", "/home/me/job/runpy.py", "/home/me/job/threading.py",
    "/home/me/job/diagnostics/agent/torch_hooks/modules.py", "/home/me/job/diagnostics/children/host.py",
    "/home/me/job/agent/steps.py", "/home/me/job/sitecustomize.py", "/home/me/job/multiprocessing/process.py",
    "/home/me/site-packages/net/model.py", "/home/me/lib/python3.11/net/model.py", "/home/me/torch/distributed/run.py",
    "/home/me/job/accelerate/commands/launch.py", "/home/me/bin/torchrun", "/var/ipykernel_7/123.py",
    "<ipython-input-3-abc>", "/home/me/job/importlib/_bootstrap.py"
]  # fmt: skip
PACKAGES = [f"{SITE}/timm/train.py", "/usr/lib/python3/dist-packages/yaml/__init__.py",
            "/opt/sw/lib/python3.11/site-packages/einops/einops.py"]  # fmt: skip


def frame(file: str, line: int = 7) -> Frame:
    return Frame(file=file, line=line, function="forward")


def homes() -> Any:
    return homes_of([agent(**FOLDERS)])


@pytest.mark.parametrize("file", NEVER)
def test_it_is_never_a_place_even_where_there_is_nothing_else(file: str) -> None:
    assert user_frames(homes().kept([frame(file)])) == ()


@pytest.mark.parametrize("file", USERS)
def test_a_file_of_the_users_is_a_place_whatever_it_is_called(file: str) -> None:
    kept = homes().kept([frame(file)])
    assert user_frames(kept, agent_folder=AGENT) == telling_frames(kept, [AGENT]) == (frame(file),)


@pytest.mark.parametrize("file", PACKAGES)
def test_a_package_is_a_place_where_no_file_of_the_users_is(file: str) -> None:
    kept = homes().kept([frame(file)])
    assert user_frames(kept) == kept
    assert user_frames(homes().kept([frame(file), frame("train.py")])) == (frame("train.py"),)


def test_who_works_below_a_folder_of_packages_has_files_there() -> None:
    working = homes_of([agent(**{**FOLDERS, "cwd": f"{SITE}/mine"})])
    assert user_frames(working.kept([frame(f"{SITE}/mine/train.py")])) == (frame(f"{SITE}/mine/train.py"),)


def test_in_a_log_the_doctors_lines_are_known_by_where_it_lies_here_or_is_installed_elsewhere() -> None:
    ours = str(Path(homes_module.__file__).parents[1] / "agent" / "steps.py")
    there = "/opt/env/lib/python3.12/site-packages/diagnostics/agent/torch_hooks/steps.py"
    assert user_frames([frame(ours), frame(there)]) == user_frames(Homes().kept([frame(ours), frame(there)])) == ()
    assert user_frames([frame("/home/me/diagnostics/agent/torch_hooks/steps.py")]) != ()


def test_of_locations_in_words_the_same_may_be_named() -> None:
    for file in (*NEVER, *USERS, *PACKAGES):
        torchs = homes().owner(file) is Owner.TORCH
        assert homes().may_be_named(f"{file}:31") is (file not in NEVER or torchs), file


FILES = st.sampled_from([*NEVER, *USERS, *PACKAGES])
PATHS = st.lists(st.builds(frame, FILES, st.integers(1, 99)), max_size=12)


@given(PATHS)
def test_of_any_path_the_users_lines_stay_in_order_and_nothing_else_is_a_place(path: list[Frame]) -> None:
    kept = homes().kept(path)
    own = [one for one in path if one.file in USERS]
    assert not any(one.file.startswith((f"{AGENT}/", f"{SITE}/diagnostics/children/")) for one in kept)
    assert list(user_frames(kept, agent_folder=AGENT)) == (own or [one for one in path if one.file in PACKAGES])


def a_case(files: list[str]) -> Job:
    """A job of two ranks, one of which ended early; every source of frames of the other tells of `files`."""
    listed = [{"file": file, "line": 7, "function": "step"} for file in files]
    text = "".join(f'  File "{file}", line 7, in step\n    loss.backward()\n' for file in files)
    crash = f"Traceback (most recent call last):\n{text}RuntimeError: [pair.cc:553] Connection closed by peer\n"
    fault = "Fatal Python error: Aborted\n\nCurrent thread 0x00007f (most recent call first):\n" + "".join(
        f'  File "{file}", line 7 in step\n' for file in files
    )
    agents = tuple(_rank(number) for number in (0, 1))
    known = homes_of(agents)
    sample = {"pid": 101, "start_ticks": 101, "at_s": 2.0, "state": "S", "waits_in": "", "syscall": "", "cpu_s": 0.0,
              "bytes_moved": 0, "major_faults": 0, "open_file": "", "stack": listed}  # fmt: skip
    ends = (End(exit_code=0, at_s=1.0, source="pidfd"), End(exit_code=1, at_s=2.0, source="pidfd"))
    report = parse_fault_report(fault, known)
    assert report is not None
    return build_job(
        JobInputs(
            job=SupervisorFacts(
                command=("torchrun",), cwd="/home/me/job", started_ns=1, exit_code=1, ended_s=3.0,
                processes=tuple(SeenProcess(pid=100 + n, start_ticks=100 + n, end=end) for n, end in enumerate(ends)),
            ),
            agents=agents,
            faults={"agent-101-101.bin": report},
            outputs={"101-101.stderr.txt": crash, "all.txt": crash},
            captures={
                "stacks-from-outside-101.json": json.dumps({"threads": [{"frames": listed}]}),
                FILE_NAME: json.dumps(sample) + "\n",
            },
            frames={"101-101": frames_from_json({"threads": [{"main": True, "frames": listed}]}, known)},
        )
    )  # fmt: skip


def _rank(number: int) -> AgentData:
    made = event("process-group", f"rank={number} world_size=2", "/home/me/job/train.py:3")
    return agent(made, pid=100 + number, start_ticks=100 + number, started_ns=1, argv=("python", "train.py"),
                 name=f"agent-{100 + number}-{100 + number}.bin", variables={"RANK": str(number), "WORLD_SIZE": "2"},
                 parent_pid=1, **FOLDERS)  # fmt: skip


def frames_in(value: Any) -> Iterator[Frame]:
    """Yields every frame that a value holds, however deep."""
    if isinstance(value, Frame):
        yield value
    elif isinstance(value, (tuple, list, frozenset)):
        for one in value:
            yield from frames_in(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from frames_in(getattr(value, one.name))


def test_a_peer_that_died_inside_a_wrapped_call_is_placed_at_the_users_line() -> None:
    job = a_case(["/home/me/job/train.py", f"{AGENT}/modules.py", f"{SITE}/torch/optim/sgd.py", f"{AGENT}/steps.py"])
    (match,) = [one for one in ask(job)[0] if one.finding.name == "rank-ended-before-its-peers"]
    assert match.locations == ("train.py:7",)


@pytest.mark.parametrize(
    "users", [[], ["/home/me/job/train.py"], ["/home/me/job/diagnostics/agent/torch_hooks/modules.py"]]
)
def test_no_record_of_any_kind_brings_a_frame_of_ours_in_and_no_signature_names_another(users: list[str]) -> None:
    job = a_case([*users, *NEVER])
    seen = [one for process in job.processes for one in frames_in(process)]
    assert len(seen) >= 10
    assert not [one for one in seen if one.owner is Owner.DOCTOR or one.file.startswith(f"{AGENT}/")]
    matches, broken = ask(job)
    assert broken == []
    allowed = {f"{user.removeprefix('/home/me/job/')}:7" for user in users} | {"train.py:3"}
    assert {line for one in matches for line in one.locations} <= allowed
