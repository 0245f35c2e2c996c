"""The option that names a folder of real data from outside the project."""

import os
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--real-data", default=None, help="folder with NeuralOperator's darcy_test_16.pt and the like")


@pytest.fixture
def real_data(request) -> Path:
    folder = request.config.getoption("--real-data", default=None) or os.environ.get("UPS_REAL_DATA")
    if not folder:
        pytest.skip("needs NeuralOperator's .pt files: --real-data FOLDER or UPS_REAL_DATA=FOLDER")
    return Path(folder)
