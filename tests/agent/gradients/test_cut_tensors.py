"""What FSDP holds over several ranks is cut, what it holds over one rank is whole: two real ranks."""

from __future__ import annotations

import pytest

PROGRAM = """
    import torch, torch.distributed as dist
    from torch import multiprocessing as mp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def rank(index, store):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://%s" % store, rank=index, world_size=2)
        mesh = init_device_mesh("cpu", {shape}, mesh_dim_names=("replicate", "shard"))
        model = torch.nn.Linear(4, 2)
        fully_shard(model, mesh=mesh["shard"])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad(); model(torch.randn(3, 4)).sum().backward(); optimizer.step()
        dist.barrier()
        dist.destroy_process_group()

    if __name__ == "__main__":
        mp.spawn(rank, args=(__file__ + ".store",), nprocs=2)
"""


@pytest.mark.parametrize(("shape", "cut"), [("(1, 2)", True), ("(2, 1)", False)])
def test_a_tensor_over_several_ranks_is_cut_and_one_over_a_single_rank_is_whole(watch, shape: str, cut: bool) -> None:
    run = watch(PROGRAM.replace("{shape}", shape))
    assert run.returncode == 0, run.stderr
    looks = [look for prints in run.record.prints.values() for look in prints.of_optimizer(0)]
    assert {look.model.sharded for look in looks} == {(cut, cut)}
    assert {len(look.values) for look in looks} == {2}
