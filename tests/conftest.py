"""Being here puts this folder on the import path: every test may `import fakes`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Where tests run side by side, what takes longest begins first: no core waits at the end for a file of trainings. What
# computes takes turns with what waits, so that neither all workers compute at once nor all wait.
LONGEST = (
    "bisection/test_bisect_command.py", "supervisor/test_hangs.py", "ups/several/test_several_problems_live_on.py",
    "diagnosis/test_hang_watched.py", "ups/test_modes.py", "diagnosis/wrapper/test_wrapper_watched.py",
    "ups/test_distributed_ends_cleanly.py", "supervisor/test_last_report.py", "ups/test_agreement.py",
    "supervisor/test_drills.py", "ups/test_train_variants.py", "supervisor/test_background.py",
    "bisection/test_script_capture.py", "supervisor/test_handled_failures.py",
    "ups/checkpoints/test_train_interrupted.py", "attach/test_running_jobs.py",
    "ups/checkpoints/test_death_and_rebirth.py", "diagnosis/test_endings_watched.py", "ups/stages/test_all_stages.py",
    "supervisor/test_running_notes.py", "ups/several/test_several_problems.py", "supervisor/test_ends.py",
    "bisection/tries/test_trial_child.py", "diagnosis/test_crash_and_lie_jobs.py", "test_zoo.py",
    "agent/test_collectives.py", "preflight/test_model_step.py", "inspection/test_inspect_command.py",
    "ups/data/test_cache_needs_little_shm.py", "supervisor/test_notes_while_running.py",
    "ups/data/test_regenerate_by_the_doctor.py", "agent/test_steps.py", "ups/data/test_ram_disk_of_a_run.py",
    "agent/test_harmless.py", "test_architecture.py", "bisection/repro/test_repro.py", "bisection/tries/test_oracle.py",
    "ups/checkpoints/test_resume_is_bit_equal.py", "ups/data/test_cache_guard.py", "preflight/test_adapter_ranks.py",
)  # fmt: skip
LONG = ("supervisor", "bisection", "parity", "ups", "diagnosis", "attach", "preflight", "agent", "inspection", "cache")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collects in half the time, which each worker pays: nothing is garbage yet, and what was compiled is kept."""
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = kept
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent

    def place(item: pytest.Item) -> tuple[int, int]:
        path = item.path.relative_to(here)
        room = path.parts[0]
        first = LONGEST.index(str(path)) if str(path) in LONGEST else len(LONGEST)
        return first, LONG.index(room) if room in LONG else len(LONG)

    items.sort(key=place)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real-data", default=None, help="folder with NeuralOperator's darcy_test_16.pt and the like")


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore Ctrl-C, and children inherit that: tests send it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    # Threads of OpenMP spin while they wait: beside other tests, two take twenty times as long as one.
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() > 1:
        torch.set_num_threads(1)


@pytest.fixture
def real_data(request: pytest.FixtureRequest) -> Path:
    """The folder of real data from outside the project."""
    folder = request.config.getoption("--real-data") or os.environ.get("UPS_REAL_DATA")
    if not folder:
        pytest.skip("needs NeuralOperator's .pt files: --real-data FOLDER or UPS_REAL_DATA=FOLDER")
    return Path(folder)
