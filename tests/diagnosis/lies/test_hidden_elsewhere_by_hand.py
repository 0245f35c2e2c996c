"""Failures that a library's own thread kept, or a context manager of another file: told where the work is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, raised

from diagnostics.diagnosis.lies import failure_hidden_in_rank
from diagnostics.dynamic.job.job import ExceptionSource, Job
from diagnostics.record.agent_data import ModuleEntry, ModuleName, OpenModules

SAVER = """\
class Saver:
    def save(self, step, **parts):
        dcp.async_save(parts, checkpoint_id=self.place(step))
    def warm(self, items):
        pool.prefetch(items)
"""
NO_LINES = "CheckpointException: cannot pickle a lambda"


def in_background(folder: Path, line: int, *, asked: bool = False) -> Job:
    """Returns a job whose thread, begun at a line of saver.py, failed twice without a line of the job's own."""
    began = event("thread", "ident=7 daemon=0 | Executor_0", f"{folder}/saver.py:{line}", f"{folder}/train.py:9")
    made = event("optimizer", "", f"{folder}/train.py:3")
    logged = raised(NO_LINES, how=ExceptionSource.LOGGED, thread=7, sequence=3)
    last = raised("ValueError: no such group", how=ExceptionSource.UNASKED, sequence=4)
    kept = (logged,) if asked else (logged, last)
    process = a_process(agent=agent(made, began, steps=90), raised=kept)
    return a_job(process, code=0, cwd=folder, files={"saver.py": SAVER})


def test_a_save_in_a_thread_of_a_library_that_nobody_asked_is_told_with_its_first_error(tmp_path: Path) -> None:
    found = failure_hidden_in_rank.match(in_background(tmp_path, 3))
    assert found is not None
    assert found.locations == ("saver.py:3", "train.py:9")
    assert found.finding.title == (
        f"Rank 0 hid {NO_LINES} (raised at saver.py:3) and ended with 0; missing: the file that it was to write"
    )


def test_a_thread_that_saves_nothing_and_a_save_that_was_asked_for_are_left_alone(tmp_path: Path) -> None:
    assert failure_hidden_in_rank.match(in_background(tmp_path, 5)) is None
    assert failure_hidden_in_rank.match(in_background(tmp_path, 3, asked=True)) is None


TRAIN = """\
from track import Run
with Run() as run:
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
"""
TRUE, NOTHING = "return self.finish()", "self.finish()"
RUN = """\
class Run:
    def __exit__(self, *exc):
        {last}
"""


@pytest.mark.parametrize(
    ("handed_on", "last", "told_at"),
    [
        ("from .run import Run\n", TRUE, ("train.py:4", "track/run.py:3")),
        ("from .run import *\n", TRUE, ("train.py:4", "track/run.py:3")),
        ("from .run import Run\n", NOTHING, None),
        ("from .run import Log\n", TRUE, None),  # that Run is another one
    ],
)
def test_an_exit_is_found_behind_the_package_that_hands_its_class_on(
    handed_on: str, last: str, told_at: tuple[str, ...] | None, tmp_path: Path
) -> None:
    error = raised("IndexError: out of range", f"{tmp_path}/train.py:4", how=ExceptionSource.FORWARD)
    module = ModuleName(path="net", class_name="Net", root_class="Net")
    left = OpenModules(thread=1, depth=0, modules=(), left_by_exception=module, left_at=5)
    entered = (ModuleEntry(sequence=3, module=module, backward=False),)
    made = event("optimizer", "", f"{tmp_path}/train.py:1")
    seen = replace(agent(made, steps=20), open_modules=(left,), entered=entered)
    files = {"train.py": TRAIN, "track/__init__.py": handed_on, "track/run.py": RUN.format(last=last)}
    found = failure_hidden_in_rank.match(
        a_job(a_process(agent=seen, raised=(error,)), code=0, cwd=tmp_path, files=files)
    )
    assert (found.locations if found is not None else None) == told_at
