import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class FSDP2Strategy:
    def setup_environment(self):
        dist.init_process_group("gloo")
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def setup_module(self, module):
        mesh = init_device_mesh("cpu", (self.world_size,))
        return fully_shard(module, mesh=mesh)

    def mean(self, value):
        value = value.detach().clone()
        dist.all_reduce(value)
        return value.item() / self.world_size

    def teardown(self):
        dist.barrier()
        dist.destroy_process_group()
