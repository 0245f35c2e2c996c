from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRITER = Path(__file__).parent.parent / "zoo" / "cache_writer.py"


@pytest.fixture(scope="session")
def torch_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that a real torch wrote, read-only for the tests."""
    folder = tmp_path_factory.mktemp("torch-files")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, env=environment, timeout=600)
    return folder
