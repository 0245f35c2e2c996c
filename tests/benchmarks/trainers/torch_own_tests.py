"""torch's own distributed tests on gloo, as the wheel has them; argv: names of tests."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ.setdefault("BACKEND", "gloo")
os.environ.setdefault("WORLD_SIZE", "2")
os.environ.setdefault("INIT_METHOD", f"file://{tempfile.mkdtemp()}/shared_init_file")
os.environ.setdefault("TEMP_DIR", tempfile.mkdtemp())
for name in ("barrier", "test_dir", "init_dir"):
    Path(os.environ["TEMP_DIR"], name).mkdir(exist_ok=True)

from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend  # noqa: E402


class TestDistBackendWithSpawn(TestDistBackend, DistributedTest._DistTestBase):
    def setUp(self) -> None:
        super().setUp()
        self._spawn_processes()


if __name__ == "__main__":
    suite = unittest.TestSuite(TestDistBackendWithSpawn(name) for name in sys.argv[1:])
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
