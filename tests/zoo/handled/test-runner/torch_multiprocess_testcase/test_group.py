import os
import signal
import sys

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.testing._internal.common_distributed import MultiProcessTestCase, TEST_SKIPS
from torch.testing._internal.common_utils import run_tests


class GroupTest(MultiProcessTestCase):
    @property
    def world_size(self):
        return 2

    def setUp(self):
        super().setUp()
        expected = {"test_abort_on_desync": -signal.SIGABRT, "test_exits_with_seven": 7}
        if self._testMethodName in expected:
            test = getattr(self, self._testMethodName).__wrapped__
            self.special_return_code_checks[test] = expected[self._testMethodName]
        self._start_processes(torch.multiprocessing.get_context("fork").Process)

    def tearDown(self):
        super().tearDown()
        try:
            os.remove(self.file_name)
        except OSError:
            pass

    def init(self):
        dist.init_process_group("gloo", store=dist.FileStore(self.file_name, self.world_size),
                                rank=self.rank, world_size=self.world_size)

    def test_ddp_step(self):
        self.init()
        model = DDP(torch.nn.Linear(2, 2))
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.full((1, 2), float(self.rank))).sum().backward()
        opt.step()
        self.assertEqual(model.module.weight.grad, torch.full((2, 2), 0.5))
        dist.barrier()
        dist.destroy_process_group()

    def test_wrong_rank_raises(self):
        self.init()
        with self.assertRaisesRegex(RuntimeError, "invalid root rank"):
            dist.broadcast(torch.ones(1), src=5)
        dist.barrier()
        dist.destroy_process_group()

    def test_abort_on_desync(self):
        self.init()
        dist.barrier()
        os.kill(os.getpid(), signal.SIGABRT)

    def test_exits_with_seven(self):
        sys.exit(7)

    def test_needs_gpu(self):
        sys.exit(TEST_SKIPS["no_cuda"].exit_code)


if __name__ == "__main__":
    run_tests()
