"""What signatures of lies say about processes put together by hand, and where they keep silent."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, frame, frames, raised

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.lies import failure_hidden_by_parent, failure_hidden_in_rank, nothing_trained
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.storage import write_cut_off
from diagnostics.dynamic.job.job import ExceptionSource, LoadFailure, ProcessRole
from diagnostics.record.agent_data import LifecycleEvent, ModuleEntry, ModuleName, OpenModules, Steps
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import SavedFile
from diagnostics.static.program.exception_flow import swallowing_tries, training_functions
from diagnostics.static.program.source_file import SourceFile

LOOP = """\
import logging, sys
def train(model, loader, optimizer):
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
def main(model, loader, optimizer):
    try:
        train(model, loader, optimizer)
    except Exception:
        logging.exception("failed")
        sys.exit(0)
main(None, None, None)
"""
RETRYING = """\
import logging
for x in range(9):
    try:
        load(x)
    except OSError:
        logging.exception("again")
    optimizer.step()
try:
    plot()
except OSError:
    logging.exception("no plot")
"""


def told(match: Match | None) -> tuple[JobOutcome, str, tuple[int, ...], tuple[str, ...]] | None:
    """Returns outcome, class, culprit ranks and lines."""
    return (match.outcome, match.failure_class, match.culprit_ranks, match.locations) if match is not None else None


def made(*kinds: str, place: str) -> list[LifecycleEvent]:
    """Returns events of what training makes."""
    return [event(kind, "", place) for kind in kinds]


def test_a_logged_exception_that_cut_the_loop_short_is_told_with_the_line_that_hid_it(tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("ValueError: nan", f"{file}:4", f"{file}:9", how=ExceptionSource.LOGGED, sequence=2)
    left = agent(*made("optimizer", place=f"{file}:13"), event("caught"), event("sys.exit", "", f"{file}:12"), steps=3)
    job = a_job(a_process(agent=left, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": LOOP})
    assert told(failure_hidden_in_rank.match(job)) == (
        JobOutcome.CRASH, "masked-exit", (0,), ("train.py:4", "train.py:12", "train.py:9"),
    )  # fmt: skip


@pytest.mark.parametrize("line", [4, 9])
def test_exceptions_that_cost_no_work_are_no_lie(line: int, tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("OSError: flaky", f"{file}:{line}", how=ExceptionSource.LOGGED, sequence=2)
    fine = agent(*made("optimizer", place=f"{file}:2"), steps=9)
    job = a_job(a_process(agent=fine, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": RETRYING})
    assert failure_hidden_in_rank.match(job) is None


IN_BACKGROUND = """\
def epoch(model, loader, optimizer):
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
def upload(path):
    client.put(path)
with ThreadPoolExecutor(1) as pool:
    pool.submit(epoch, model, loader, optimizer)
    pool.submit(upload, "a")
"""


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("ValueError: nan", 3, ("train.py:3", "train.py:9")),
        ("StopTraining: enough", 3, None),
        ("OSError: no route", 7, None),  # a helper of which nothing is missing
    ],
)
def test_training_that_ended_in_a_future_that_nobody_asked_is_told_at_the_call_that_handed_it_over(
    text: str, line: int, expected: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    error = raised(text, how=ExceptionSource.UNASKED)
    path = (frame(f"{file}:{line}", "epoch" if line < 6 else "upload"),)
    lost = replace(error, path=path, user_path=path)
    process = a_process(agent=agent(*made("optimizer", place=f"{file}:9"), steps=3), raised=(lost,))
    found = failure_hidden_in_rank.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": IN_BACKGROUND}))
    assert (found.locations if found is not None else None) == expected


FOLDS = """\
def run_fold(path, fold):
    data = torch.load(path)
    for x in data:
        model(x).backward()
        optimizer.step()
def plot_fold(path):
    data = torch.load(path)
"""


@pytest.mark.parametrize(
    ("line", "steps", "lines"),
    [
        (2, 0, ("cv.py:2", "main.py:3")),  # the training never began
        (4, 5, ("cv.py:4", "main.py:3")),  # and here it was cut short
        (7, 0, None),  # no training follows
    ],
)
def test_what_failed_in_a_process_of_a_pool_and_was_never_asked_for_is_told_at_its_line_and_where_it_was_handed_over(
    line: int, steps: int, lines: tuple[str, ...] | None, tmp_path: Path
) -> None:
    path = (frame(f"{tmp_path}/cv.py:{line}", "run_fold" if line < 6 else "plot_fold"),)
    kept = raised("KeyError: 'nu'", how=ExceptionSource.UNASKED)
    there = replace(raised("KeyError: 'nu'", how=ExceptionSource.WORKER), path=path, user_path=path)
    seen = agent(*made("dataloader", place=f"{tmp_path}/main.py:1"), pid=1)
    job = a_job(
        a_process(1, part=ProcessRole.LAUNCHER if steps else ProcessRole.RANK, agent=seen, raised=(kept,)),
        a_process(2, part=ProcessRole.RANK if steps else ProcessRole.HELPER, parent_pid=1, raised=(there,),
                  agent=agent(pid=2, steps=steps)),
        code=0, cwd=tmp_path,
        files={"cv.py": FOLDS, "main.py": "import cv\npool = Pool()\npool.apply_async(cv.run_fold, (1, 2))\n"},
    )  # fmt: skip
    found = failure_hidden_in_rank.match(job)
    assert (found.locations if found is not None else None) == lines
    if found is not None:
        assert (found.finding.confidence, found.culprit_ranks) == (Confidence.LIKELY, (0,))
        assert found.finding.title.endswith("and ended with 0; missing: the rest of a training loop")


IN_A_POOL = """\
def write(state, path):
    arrays = {name: value.numpy() for name, value in state.items()}
    np.savez(path, **arrays)
def push(state, path):
    np.savez(path, **state)
    session.post(URL, state)
def main():
    job = pool.submit(write, model.state_dict(), "a.npz")
"""


@pytest.mark.parametrize(("line", "expected"), [(2, ("train.py:2",)), (3, ("train.py:3",)), (6, None)])
def test_a_future_that_nobody_asked_and_that_failed_before_it_wrote_its_file_is_told(
    line: int, expected: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    path = (frame(f"{file}:{line}", "write"),)
    lost = replace(raised("TypeError: BFloat16", how=ExceptionSource.UNASKED), path=path, user_path=path)
    process = a_process(agent=agent(*made("optimizer", place=f"{file}:8"), steps=3), raised=(lost,))
    found = failure_hidden_in_rank.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": IN_A_POOL}))
    assert (found.locations[:1] if found is not None else None) == expected
    if found is not None:
        assert found.finding.title.endswith("and ended with 0; missing: the file that it was to write")


SWALLOWED = """\
def epoch(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        optimizer.step()
def main(model, loader, optimizer):
    with Run() as run:
        for number in range(9):
            epoch(model, loader, optimizer)
    dist.barrier()
"""


@pytest.mark.parametrize(
    ("ends_in", "lines"),
    [
        ((), ("train.py:3", "train.py:6", "train.py:8")),
        ((f"{Path(__file__).parent}/concurrent/futures/thread.py:58",), None),  # of a pool: a future has it
    ],
)
def test_a_with_that_an_exception_ended_in_hid_it(
    ends_in: tuple[str, ...], lines: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("KeyError: 'mixup'", f"{file}:3", f"{file}:8", how=ExceptionSource.CAUGHT, sequence=2)
    error = replace(error, path=(*error.path, *frames(*ends_in)))
    seen = agent(*made("optimizer", place=f"{file}:9"), event("caught"), steps=3)
    job = a_job(a_process(agent=seen, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": SWALLOWED})
    assert (told(failure_hidden_in_rank.match(job)) or (None,) * 4)[3] == lines


@pytest.mark.parametrize("line", [2, 3])
def test_what_came_out_of_the_iterator_of_a_training_loop_cut_it_short_as_well(line: int, tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("KeyError: 'nu'", f"{file}:{line}", f"{file}:8", how=ExceptionSource.CAUGHT, sequence=2)
    seen = agent(*made("optimizer", place=f"{file}:9"), event("caught"), steps=3)
    job = a_job(a_process(agent=seen, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": SWALLOWED})
    found = failure_hidden_in_rank.match(job)
    assert told(found) == (
        JobOutcome.CRASH, "masked-exit", (0,), (f"train.py:{line}", "train.py:6", "train.py:8"),
    )  # fmt: skip
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("let the exception out of the `with` at train.py:6")


CUT_QUIETLY = """\
def train(loader):
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
try:
    train(loader)
except Exception:
    pass
try:
    train(loader)
except OSError:
    pass
for x in loader:
    try:
        model(x).backward()
        optimizer.step()
    except Exception:
        continue
try:
    train(loader)
except Exception:
    raise SystemExit(1)
"""


@pytest.mark.parametrize(
    ("error", "lines", "last_step_s", "told_at"),
    [
        ("KeyError: 'nu'", (2, 7), 1.0, ("train.py:2", "train.py:8", "train.py:7")),
        ("KeyError: 'nu'", (3, 7), 1.0, ("train.py:3", "train.py:8", "train.py:7")),
        ("OSError: gone", (2, 11), 1.0, ("train.py:2", "train.py:12", "train.py:11")),
        ("KeyError: 'nu'", (2, 11), 1.0, None),  # this handler cannot have taken it
        ("StopTraining: enough", (2, 7), 1.0, None),
        ("KeyError: 'nu'", (16,), 1.0, None),  # the loop went on
        ("KeyError: 'nu'", (2, 7), 9.0, None),  # it was trained after that
        ("KeyError: 'nu'", (2, 21), 1.0, None),
    ],
)
def test_what_came_out_of_torch_and_ended_in_a_handler_that_says_nothing_is_told_where_it_cut_the_loop(
    error: str, lines: tuple[int, ...], last_step_s: float, told_at: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    seen = raised(error, *(f"{file}:{line}" for line in lines), how=ExceptionSource.FORWARD, at_s=2.0)
    known = replace(agent(*made("optimizer", place=f"{file}:9")), steps=Steps(count=20, last_s=last_step_s))
    found = failure_hidden_in_rank.match(
        a_job(a_process(agent=known, raised=(seen,)), code=0, cwd=tmp_path, files={"train.py": CUT_QUIETLY})
    )
    assert (found.locations if found is not None else None) == told_at
    assert found is None or found.finding.confidence is Confidence.LIKELY


LEFT_BY_EXIT = """\
class Journal:
    def __exit__(self, *exc):
        return self.flush()
class Timer:
    def __exit__(self, *exc):
        self.stop()
def train(loader):
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
with Journal() as journal:
    train(loader)
with Timer():
    train(loader)
for x in loader:
    with Journal():
        model(x).backward()
"""


@pytest.mark.parametrize(
    ("lines", "went_on", "told_at"),
    [
        ((9, 13), False, ("train.py:9", "train.py:3", "train.py:13")),
        ((9, 15), False, None),  # this one lets it out
        ((18,), False, None),  # and the loop goes on after that one
        ((9, 13), True, None),
    ],
)
def test_an_exit_that_gives_back_what_is_true_hid_what_came_out_of_the_model(
    lines: tuple[int, ...], went_on: bool, told_at: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("ValueError: one row", *(f"{file}:{line}" for line in lines), how=ExceptionSource.FORWARD)
    module = ModuleName(path="net", class_name="Net", root_class="Net")
    open_one = OpenModules(thread=1, depth=0, modules=(), left_by_exception=module, left_at=5)
    later = (ModuleEntry(sequence=9 if went_on else 3, module=module, backward=False),)
    seen = replace(agent(*made("optimizer", place=f"{file}:9"), steps=20), open_modules=(open_one,), entered=later)
    found = failure_hidden_in_rank.match(
        a_job(a_process(agent=seen, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": LEFT_BY_EXIT})
    )
    assert (found.locations if found is not None else None) == told_at


SAVING = """\
def save(model):
    torch.save(model.state_dict(), "/data/last.pt")
def main(model):
    try:
        save(model)
    except OSError:
        print("could not save")
    with suppress(OSError):
        save(model)
    try:
        save(model)
    except OSError:
        fall_back_to(model, save_here)
    try:
        save(model)
    except OSError:
        torch.save(model.state_dict(), "last.pt")
    try:
        save(model)
    except OSError:
        raise SystemExit(1)
atexit.register(save)
"""


def _saved(step: int, ended_s: float) -> SavedFile:
    return SavedFile(file="/data/1.pt", began_ns=0, ended_ns=int(ended_s * 1e9), empty=False, step=step, path=())


@pytest.mark.parametrize(
    ("line", "good", "last_step_s", "lines"),
    [
        (5, (), 2.0, ("train.py:2", "train.py:6", "train.py:5")),
        (9, (), 2.0, ("train.py:2", "train.py:8", "train.py:9")),
        (22, (), 2.0, ("train.py:2", "train.py:22")),  # nothing around it
        (5, (), 5.0, ("train.py:2", "train.py:6", "train.py:5")),  # trained on, and never saved at all
        (11, (), 2.0, None),  # the handler has another way
        (15, (), 2.0, None),  # the handler saves elsewhere
        (5, (_saved(20, 1.0),), 2.0, ("train.py:2", "train.py:6", "train.py:5")),  # nothing of the last 20 steps
        (5, (_saved(20, 1.0),), 5.0, None),  # a snapshot on the way
        (5, (_saved(40, 2.5),), 2.0, None),  # nothing trained since
        (5, (_saved(20, 4.0),), 2.0, None),  # saved after all
        (5, (), -1.0, None),  # before the first step: a cache, say
    ],
)
def test_the_last_save_that_failed_and_was_kept_quiet_is_told_where_nothing_else_has_the_work(
    line: int, good: tuple[SavedFile, ...], last_step_s: float, lines: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    load = LoadFailure(
        at_s=3.0, function="torch.save", file="/data/last.pt", error="OSError: no space",
        path=frames(f"{file}:2", f"{file}:{line}"),
    )  # fmt: skip
    first_s = 0.5 if last_step_s > 0 else 4.0
    seen = replace(agent(), steps=Steps(count=40, first_s=first_s, last_s=max(last_step_s, first_s)))
    process = a_process(agent=seen, loads=(load,), prints=ParameterPrints(marks=good))
    found = failure_hidden_in_rank.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": SAVING}))
    assert (told(found) or (None,) * 4)[3] == lines
    if found is not None:
        assert found.finding.title.endswith("and ended with 0; missing: the file that it was to write")


def test_a_save_into_memory_and_one_beside_other_ways_of_saving_are_no_lost_ones(tmp_path: Path) -> None:
    def found(file: str, steps: int, *events: LifecycleEvent) -> Match | None:
        load = LoadFailure(
            at_s=3.0, function="torch.save", file=file, error="TypeError: no", path=frames(f"{tmp_path}/train.py:5")
        )
        process = a_process(agent=agent(*events, steps=steps), loads=(load,))
        return failure_hidden_in_rank.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": SAVING}))

    assert found("/data/last.pt", 40) is not None
    assert found("<BytesIO>", 40) is None
    assert found("/data/last.pt", 0) is None
    assert found("/data/last.pt", 40, event("checkpoint", "safetensors.torch.save_file")) is None
    (tmp_path / "train.py").write_text(SAVING + "np.savez('weights.npz', **arrays)\n")
    process = a_process(agent=agent(*made("optimizer", place=f"{tmp_path}/train.py:1"), steps=40), loads=(
        LoadFailure(at_s=3.0, function="torch.save", file="/data/last.pt", error="OSError: no",
                    path=frames(f"{tmp_path}/train.py:5")),
    ))  # fmt: skip
    assert failure_hidden_in_rank.match(a_job(process, code=0, cwd=tmp_path)) is None


def test_leaving_the_loop_on_purpose_is_no_lie(tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    for kind in ("KeyboardInterrupt", "StopTraining", "EarlyStopping"):
        error = raised(f"{kind}: enough", f"{file}:4", f"{file}:9", how=ExceptionSource.LOGGED, sequence=2)
        fine = agent(*made("optimizer", place=f"{file}:13"), steps=3)
        job = a_job(a_process(agent=fine, raised=(error,)), code=0, cwd=tmp_path, files={"train.py": LOOP})
        assert failure_hidden_in_rank.match(job) is None


def test_an_uncaught_exception_behind_os_exit_0_is_told(tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    left = agent(event("exception", "KeyError: 1", f"{file}:4"), event("os._exit", "", f"{file}:13"), steps=3)
    job = a_job(a_process(agent=left, raised=(raised("KeyError: 1", f"{file}:4"),)), code=0, cwd=tmp_path)
    assert told(failure_hidden_in_rank.match(job)) == (
        JobOutcome.CRASH, "masked-exit", (0,), ("train.py:4", "train.py:13"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("script", "hiding"),
    [
        ("python train.py || true\n", 1),
        ("set -e\npython train.py --lr 1 | tee log\n", 2),
        ("RANK=0 python train.py &\nRANK=1 python train.py &\nwait\n", 3),
        ("python train.py\nexit 0\n", 2),
        ("cleanup() { rm -rf scratch; exit 0; }\ntrap cleanup EXIT\npython train.py\n", 1),
        ("trap 'exit 0' EXIT\npython train.py\n", 1),
        ("if true; then\n  python train.py\nfi\necho done\n", 2),
        ("python train.py\necho done\n", 1),
        ("python \\\n  train.py \\\n  || true\n", 2),
    ],
)
def test_the_line_of_the_script_that_hid_a_failure_follows_the_one_that_failed(
    script: str, hiding: int, tmp_path: Path
) -> None:
    shell = a_process(1, part=ProcessRole.SHELL, rank=None, argv=("bash", "run.sh"), cwd=str(tmp_path), parent_pid=0)
    words = ("python", "train.py", *(("--lr", "1") if "--lr 1" in script else ()))
    failed = a_process(2, code=1, argv=words, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),))
    job = a_job(shell, failed, code=0, cwd=tmp_path, files={"run.sh": script}, facts={"command": ("bash", "run.sh")})
    found = told(failure_hidden_by_parent.match(job))
    assert found is not None
    assert (found[:3], found[3][:2]) == (
        (JobOutcome.CRASH, "masked-exit", (0,)), ("train.py:4", f"run.sh:{hiding}"),
    )  # fmt: skip


def test_a_parent_that_did_not_look_is_told_at_the_line_that_started_the_child(tmp_path: Path) -> None:
    started = agent(event("child", "pid=2 how=popen reads=1 | python train.py", f"{tmp_path}/launch.py:3"))
    parent = a_process(1, part=ProcessRole.HELPER, rank=None, argv=("python", "launch.py"), agent=started)
    failed = a_process(2, code=1, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),))
    job = a_job(parent, failed, code=0, cwd=tmp_path)
    found = told(failure_hidden_by_parent.match(job))
    assert found is not None
    assert found[3] == ("train.py:4", "launch.py:3")


@pytest.mark.parametrize(
    ("argv", "hidden"),
    [
        (("find", "configs", "-name", "*.json", "-exec", "python", "train.py", "a.json", ";"), True),
        (("find", "configs", "-name", "*.json", "-exec", "python", "train.py", "a.json", "{}", "+"), False),
        (("script", "-q", "-c", "python train.py a.json", "log"), True),
        (("script", "-qe", "-c", "python train.py a.json", "log"), False),
        (("xargs", "python", "train.py"), False),
    ],
)
def test_a_program_that_drops_the_code_of_its_command_is_told_though_the_next_run_went_well(
    argv: tuple[str, ...], hidden: bool, tmp_path: Path
) -> None:
    shell = a_process(1, part=ProcessRole.SHELL, rank=None, argv=("bash", "run.sh"), cwd=str(tmp_path), parent_pid=0)
    runner = a_process(2, part=ProcessRole.HELPER, rank=None, argv=argv, parent_pid=1)
    train = ("python", "train.py")
    error = raised("KeyError: 1", f"{tmp_path}/train.py:4")
    failed = a_process(3, code=1, argv=(*train, "a.json"), parent_pid=2, raised=(error,))
    other = a_process(4, argv=(*train, "b.json"), parent_pid=2, began_s=4.0, at_s=9.0, agent=agent(pid=4, steps=9))
    text = "set -e\n" + shlex.join([one if one != "a.json" else "{}" for one in argv]) + "\necho done\n"
    job = a_job(
        shell, runner, failed, other, code=0, cwd=tmp_path, files={"run.sh": text},
        facts={"command": ("bash", "run.sh")},
    )  # fmt: skip
    found = failure_hidden_by_parent.match(job)
    assert (found.locations if found is not None else None) == (("train.py:4", "run.sh:2") if hidden else None)


def test_helpers_that_fail_by_design_retries_and_aborts_at_teardown_are_no_lie(tmp_path: Path) -> None:
    helper = a_process(5, part=ProcessRole.HELPER, rank=None, code=128, argv=("git", "describe"))
    first = a_process(2, code=1, at_s=3.0, raised=(raised("OSError: flaky", f"{tmp_path}/train.py:4"),))
    again = a_process(3, began_s=3.2, at_s=9.0, agent=agent(steps=9))
    torn = a_process(4, rank=1, signal=6, agent=agent(event("exit"), steps=9))
    assert failure_hidden_by_parent.match(a_job(helper, first, again, torn, code=0, cwd=tmp_path)) is None


def nothing(tmp_path: Path, *kinds: str, steps: int = 0, output: str = "", code: int = 0) -> Match | None:
    """Returns what is said of a job that made no step, and whose rank ended with a code."""
    file = f"{tmp_path}/train.py"
    frame_events = [event(kind, "", f"{file}:{line}") for line, kind in enumerate(kinds, 1)]
    job = a_job(
        a_process(agent=agent(*frame_events, steps=steps), code=code),
        code=0, cwd=tmp_path, output=output,
        files={"train.py": "a = 1\nb = 2\nc = 3\nfor e in range(5, 5):\n    for x in []:\n        optimizer.step()\n"},
    )  # fmt: skip
    return nothing_trained.match(job)


def test_an_empty_loader_is_told_at_the_line_that_makes_it(tmp_path: Path) -> None:
    found = nothing(tmp_path, "dataloader", "optimizer", "loader-iter")
    assert told(found) == (
        JobOutcome.SILENT_WRONG, "zero-progress", (0,), ("train.py:1", "train.py:3", "train.py:4", "train.py:5"),
    )  # fmt: skip


def test_a_rank_that_failed_before_its_first_step_is_no_run_that_trained_nothing(tmp_path: Path) -> None:
    assert nothing(tmp_path, "dataloader", "optimizer", code=1) is None
    assert nothing(tmp_path, "dataloader", "optimizer") is not None


def test_a_loop_that_was_never_entered_is_told_at_its_line(tmp_path: Path) -> None:
    found = nothing(tmp_path, "dataloader", "optimizer")
    assert told(found) == (
        JobOutcome.SILENT_WRONG, "zero-progress", (0,), ("train.py:4", "train.py:5", "train.py:1"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("later", "lies"),
    [
        (("train.py", "--task", "finetune", "--load", "a"), True),
        (("train.py", "--task", "pretrain", "--resume"), False),  # the same, started again
        (("train.py", "--task", "finetune", "--eval-only"), False),
    ],
)
def test_a_second_training_that_made_no_step_is_told_though_the_first_one_did(
    tmp_path: Path, later: tuple[str, ...], lies: bool
) -> None:
    file = f"{tmp_path}/train.py"
    first = a_process(
        2,
        argv=("python", "train.py", "--task", "pretrain"),
        at_s=3.0,
        agent=agent(event("optimizer", "", f"{file}:1"), steps=9),
    )
    second = a_process(
        3, argv=("python", *later), began_s=4.0, at_s=6.0, agent=agent(event("optimizer", "", f"{file}:1"))
    )
    files = {"train.py": "a = 1\nwhile step < steps:\n    optimizer.step()\n"}
    job = replace(a_job(first, second, code=0, cwd=tmp_path, files=files), ranks=(second,))
    found = nothing_trained.match(job)
    expected = (JobOutcome.SILENT_WRONG, "zero-progress", (0,), ("train.py:2",))
    assert told(found) == (expected if lies else None)


@pytest.mark.parametrize(
    ("said", "lies"),
    [
        ("completed: 2 ranks, no step was left to make; best.pt", False),
        ("0 epochs to run", False),
        ("completed: 2 ranks; best.pt", True),
    ],
)
def test_a_run_that_went_on_and_says_that_no_step_was_left_is_no_lie(tmp_path: Path, said: str, lies: bool) -> None:
    rank = a_process(
        argv=("python", "train.py", "--resume"), agent=agent(event("optimizer", "", f"{tmp_path}/train.py:1"))
    )
    files = {"train.py": "a = 1\nwhile step < steps:\n    optimizer.step()\n"}
    found = nothing_trained.match(a_job(rank, code=0, cwd=tmp_path, files=files, output=said))
    assert (found is not None) is lies


def test_evaluation_and_training_that_took_place_are_no_lie(tmp_path: Path) -> None:
    assert nothing(tmp_path, "dataloader", "loader-iter") is None
    assert nothing(tmp_path, "dataloader", "optimizer", "loader-iter", steps=1) is None
    asked = a_process(
        argv=("python", "train.py", "--eval-only"), agent=agent(event("optimizer", "", f"{tmp_path}/train.py:1"))
    )
    assert nothing_trained.match(a_job(asked, code=0, cwd=tmp_path)) is None


@pytest.mark.parametrize(
    ("kind", "said", "lies"),
    [
        ("optimizer-restored", "resumed at epoch 5: nothing left to train", False),
        ("optimizer-restored", "completed: 2 ranks, 0 steps each", False),
        ("optimizer-restored", "training completed successfully", True),
        ("sampler", "nothing left to train", True),
    ],
)
def test_a_resumed_run_that_says_that_nothing_was_left_to_do_is_no_lie(
    kind: str, said: str, lies: bool, tmp_path: Path
) -> None:
    found = nothing(tmp_path, "dataloader", "optimizer", kind, output=said)
    assert (found is not None) == lies


QUIET = LOOP.replace('logging.exception("failed")', 'print("failed")').replace("sys.exit(0)", "return")

STAGES = """\
def train(epochs):
    for epoch in range(epochs):
        loss = model(epoch)
        loss.backward()
        optimizer.step()
def stage(name, work):
    try:
        work(3)
    except Exception as error:
        print(name, error)
stage("train", train)
"""
EXPORTS = STAGES.replace('stage("train", train)', 'train(3)\nstage("export", export)')


@pytest.mark.parametrize(
    ("words", "accused"),
    [
        (("--resume",), False),  # how it restores its state need not be the optimizer's load_state_dict
        (("init_from=resume",), False),
        (("--resume_from_checkpoint=out/last",), False),
        (("--resume=none",), True),
        (("--no-resume",), True),
        (("--max-restarts", "3"), True),
    ],
)
def test_a_run_that_was_told_to_go_on_may_have_nothing_left_to_do(
    words: tuple[str, ...], accused: bool, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    seen = made("dataloader", "optimizer", place=f"{file}:7")
    rank = a_process(
        argv=("python", "train.py", *words), agent=agent(event("hooks", "logging traceback", f"{file}:1"), *seen)
    )
    match = failure_hidden_in_rank.match(a_job(rank, code=0, cwd=tmp_path, files={"train.py": QUIET}))
    assert (match is not None) == accused


@pytest.mark.parametrize(
    ("text", "events", "lines"),
    [
        (QUIET, (), ("train.py:10",)),
        (STAGES, (), ("train.py:9",)),  # what trains is handed to what has the handler
        (EXPORTS, (), None),
        (QUIET, ("optimizer-restored",), None),
        (LOOP, (), None),  # what logging.exception says would have been seen
    ],
)
def test_a_handler_that_nobody_saw_at_work_is_told_only_where_it_would_have_gone_unseen(
    text: str, events: tuple[str, ...], lines: tuple[str, ...] | None, tmp_path: Path
) -> None:
    file = f"{tmp_path}/train.py"
    seen = made("dataloader", "optimizer", *events, place=f"{file}:7")
    rank = a_process(agent=agent(event("hooks", "logging traceback", f"{file}:1"), *seen))
    match = failure_hidden_in_rank.match(a_job(rank, code=0, cwd=tmp_path, files={"train.py": text}))
    assert (told(match) or (None,) * 4)[3] == lines


ELSE = """\
def fit(model, optimizer):
    for step in range(10):
        try:
            loss = model(step)
        except:
            pass
        else:
            loss.backward()
            optimizer.step()
"""


def test_a_handler_around_the_forward_pass_alone_is_found_as_well() -> None:
    file = SourceFile(Path("fit.py"), ELSE)
    assert [block.lineno for block in swallowing_tries(file, frozenset({"fit"}))] == [3]
    alone = SourceFile(Path("fit.py"), ELSE.replace("else:", "if step:"))
    assert [block.lineno for block in swallowing_tries(alone, frozenset({"fit"}))] == [3]


ACCUMULATING = """\
for step, x in enumerate(loader):
    loss = model(x) / 8
    loss.backward()
    if (step + 1) % 8 == 0:
        optimizer.step()
"""
BY_HAND = """\
optimizer = None
for x in loader:
    loss = model(x)
    loss.backward()
    for weight in weights:
        weight -= 0.1 * weight.grad
"""


@pytest.mark.parametrize(
    ("source", "steps", "found"),
    [
        (ACCUMULATING, 0, (JobOutcome.SILENT_WRONG, "zero-progress", (0,), ("train.py:4", "train.py:1"))),
        (ACCUMULATING, 1, None),
        (BY_HAND, 0, None),
        (BY_HAND.replace("    loss.b", "    if x > 9:\n        break\n    loss.b"), 0, None),
    ],
)
def test_backward_passes_without_a_step_are_told_at_the_condition_around_the_step(
    tmp_path: Path, source: str, steps: int, found: object
) -> None:
    ran = agent(*made("optimizer", place=f"{tmp_path}/train.py:1"))
    ran = replace(ran, steps=Steps(count=steps, backwards=5))
    job = a_job(a_process(agent=ran), code=0, cwd=tmp_path, files={"train.py": source})
    assert told(nothing_trained.match(job)) == found


@pytest.mark.parametrize("part", [ProcessRole.HELPER, ProcessRole.LAUNCHER])
@pytest.mark.parametrize("raised_too", [False, True])
def test_a_code_that_a_child_chose_for_its_python_parent_is_an_answer(
    raised_too: bool, part: ProcessRole, tmp_path: Path
) -> None:
    file = f"{tmp_path}/suite.py"
    started = agent(event("child", "pid=2 how=process reads=1 | run", f"{file}:7"))
    parent = a_process(1, part=part, rank=None, agent=started, argv=("python", "suite.py"), cwd=str(tmp_path))
    left = agent(*made("ddp", place=f"{file}:3"), event("sys.exit", "", f"{file}:9"), steps=2)
    errors = (raised("KeyError: 1", f"{tmp_path}/suite.py:4"),) if raised_too else ()
    child = a_process(2, code=77, agent=left, raised=errors, parent_pid=1)
    found = failure_hidden_by_parent.match(a_job(parent, child, code=0, cwd=tmp_path))
    assert (found is not None) is raised_too


def test_a_loop_on_a_condition_that_was_never_true_is_no_empty_loader(tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    text = "loader = 1\noptimizer = 2\nbatches = cycle(loader)\nwhile step < steps:\n    optimizer.step()\n"
    events = [
        event(kind, "", f"{file}:{line}") for line, kind in enumerate(("dataloader", "optimizer", "loader-iter"), 1)
    ]
    found = nothing_trained.match(
        a_job(a_process(agent=agent(*events)), code=0, cwd=tmp_path, files={"train.py": text})
    )
    assert told(found) == (JobOutcome.SILENT_WRONG, "zero-progress", (0,), ("train.py:4", "train.py:1"))


def test_make_that_was_told_to_ignore_a_failure_is_told_at_the_recipe_line(tmp_path: Path) -> None:
    make = a_process(1, part=ProcessRole.SHELL, rank=None, argv=("make",), cwd=str(tmp_path), parent_pid=0)
    recipe = a_process(
        2, part=ProcessRole.SHELL, rank=None, code=1, argv=("/bin/sh", "-c", "python train.py 2> err"), parent_pid=1
    )
    failed = a_process(3, code=1, parent_pid=2, raised=(raised("KeyError: 1", f"{tmp_path}/train.py:4"),))
    files = {"Makefile": "all:\n\t-@python train.py 2> err\n\t@echo done\n"}
    job = a_job(make, recipe, failed, code=0, cwd=tmp_path, files=files, facts={"command": ("make",)})
    assert told(failure_hidden_by_parent.match(job)) == (
        JobOutcome.CRASH, "masked-exit", (0,), ("train.py:4", "Makefile:2"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "hidden"),
    [
        (("python", "train.py"), True),
        (("python", "-m", "pytest", "tests"), False),
        (("/venv/bin/pytest", "train.py"), False),
        (("python", "train.py", "--dry-run"), False),
    ],
)
def test_what_a_runner_of_tests_caught_was_its_own_affair(argv: tuple[str, ...], hidden: bool, tmp_path: Path) -> None:
    file = f"{tmp_path}/train.py"
    error = raised("ValueError: nan", f"{file}:4", f"{file}:9", how=ExceptionSource.PRINTED, sequence=2)
    made_one = agent(*made("optimizer", place=f"{file}:13"), event("caught"))
    job = a_job(a_process(agent=made_one, raised=(error,), argv=argv), code=0, cwd=tmp_path, files={"train.py": LOOP})
    assert (failure_hidden_in_rank.match(job) is not None) is hidden


IN_THE_BACKGROUND = """\
def write(path, data):
    with open(path, MODE) as file:
        for part in data:
            file.write(part)
def beat():
    while True:
        write("beat", [b"1"])
threading.Thread(target=write, args=("final.pt", data), daemon=True).start()
"""


@pytest.mark.parametrize(
    ("mode", "stack", "told_of"),
    [
        ('"wb"', (4,), True),
        ('"rb"', (4,), False),
        ('"wb"', (4, 7), False),  # whenever a heartbeat ends it is cut off
        ('"wb"', (1,), False),
    ],
)
def test_a_daemon_thread_that_was_cut_off_while_it_wrote_is_told_at_the_line_that_started_it(
    tmp_path: Path, mode: str, stack: tuple[int, ...], told_of: bool
) -> None:
    file = f"{tmp_path}/train.py"
    cut = event("cut-off", f"{file}:8", *(f"{file}:{line}" for line in stack))
    files = {"train.py": IN_THE_BACKGROUND.replace("MODE", mode)}
    found = write_cut_off.match(a_job(a_process(code=0, agent=agent(cut)), code=0, cwd=tmp_path, files=files))
    expected = (JobOutcome.SILENT_WRONG, "masked-exit", (0,), ("train.py:8", "train.py:4"))
    assert told(found) == (expected if told_of else None)


@pytest.mark.parametrize(
    ("error", "expected"), [("ValueError: no", ("train.py:2", "train.py:9")), ("OSError: no", None)]
)
def test_a_thread_that_only_saves_and_dies_is_told_where_it_was_started(
    error: str, expected: tuple[str, ...] | None, tmp_path: Path
) -> None:
    died = raised(error, how=ExceptionSource.THREAD, sequence=9)
    saves = LoadFailure(at_s=2.0, function="torch.save", file="a.pt", error="ValueError: no", path=())
    started = agent(event("thread", "ident=7 daemon=0 | saver", "train.py:2", "train.py:9"), steps=3)
    job = a_job(a_process(agent=started, raised=(died,), loads=(saves,)), code=0, cwd=tmp_path)
    assert (told(failure_hidden_in_rank.match(job)) or (None,) * 4)[3] == expected


DECORATED = """\
def guarded(fn):
    def call(*args):
        try:
            return fn(*args)
        except Exception as error:
            log.debug(error)
    return call
@guarded
def train(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        optimizer.step()
"""


def test_a_decorator_of_a_training_function_may_hide_what_it_raises() -> None:
    source = SourceFile(Path("fit.py"), DECORATED)
    trained_by = training_functions([source])
    assert [block.lineno for block in swallowing_tries(source, trained_by)] == [3]
    plain = SourceFile(Path("fit.py"), DECORATED.replace("@guarded\n", ""))
    assert list(swallowing_tries(plain, training_functions([plain]))) == []
