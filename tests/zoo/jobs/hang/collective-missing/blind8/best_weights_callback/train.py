import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lab.callbacks import build
from lab.loop import Loop
from lab.model import Encoder


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = Encoder(width=32, depth=2)
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    loop = Loop(model, [build("progress"), build("best_weights", warmup=2)])
    loop.fit(epochs=6, steps=15)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
