"""Being here puts this folder on the import path: every test may `import fakes`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real-data", default=None, help="folder with NeuralOperator's darcy_test_16.pt and the like")


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore Ctrl-C, and children inherit that: tests send it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def real_data(request: pytest.FixtureRequest) -> Path:
    """The folder of real data from outside the project."""
    folder = request.config.getoption("--real-data") or os.environ.get("UPS_REAL_DATA")
    if not folder:
        pytest.skip("needs NeuralOperator's .pt files: --real-data FOLDER or UPS_REAL_DATA=FOLDER")
    return Path(folder)
