from datetime import timedelta

import torch.distributed as dist


def test_a_rank_that_is_late_is_told():
    dist.init_process_group("gloo", "file:///tmp/store", timedelta(seconds=2), rank=0, world_size=2)
