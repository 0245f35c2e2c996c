import os
import shutil
import signal
import tempfile
import unittest
import uuid

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, record
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


def _rank_sum():
    dist.init_process_group("gloo")
    value = torch.tensor([float(dist.get_rank())])
    dist.all_reduce(value)
    dist.barrier()
    dist.destroy_process_group()
    return value.item()


@record
def _raise_on_rank_one():
    if int(os.environ["RANK"]) == 1:
        raise ValueError("bad shard")
    return "fine"


def _die_by(number):
    if int(os.environ["RANK"]) == 0:
        os.kill(os.getpid(), number)


class ElasticLaunchTest(unittest.TestCase):
    def setUp(self):
        self.logs = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.logs)

    def config(self, **more):
        return LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, run_id=str(uuid.uuid4()),
                            rdzv_backend="c10d", rdzv_endpoint="localhost:0", max_restarts=0,
                            monitor_interval=0.1, start_method="spawn", **more)

    def test_function(self):
        self.assertEqual(elastic_launch(self.config(), _rank_sum)(), {0: 1.0, 1: 1.0})

    def test_function_raises(self):
        with self.assertRaises(ChildFailedError) as caught:
            elastic_launch(self.config(), _raise_on_rank_one)()
        rank, failure = caught.exception.get_first_failure()
        self.assertEqual((rank, failure.exitcode), (1, 1))

    def test_function_killed(self):
        with self.assertRaises(ChildFailedError) as caught:
            elastic_launch(self.config(), _die_by)(signal.SIGKILL)
        self.assertEqual(caught.exception.get_first_failure()[1].exitcode, -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
