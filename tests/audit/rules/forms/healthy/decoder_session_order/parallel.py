import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


class Sharder:
    def __init__(self, world, reshard=True):
        self.mesh = init_device_mesh("cuda", (world,), mesh_dim_names=("fsdp",))
        self.policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        self.reshard = reshard

    def apply(self, model):
        for layer in model.layers:
            fully_shard(layer, mesh=self.mesh, mp_policy=self.policy, reshard_after_forward=self.reshard)
        fully_shard(model, mesh=self.mesh, mp_policy=self.policy)
        return model
