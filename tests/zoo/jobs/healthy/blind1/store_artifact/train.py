import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from sync.ready import Artifact, slow_index


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    artifact = Artifact(dist.distributed_c10d._get_default_store(), "index")
    if rank == 0:
        name = artifact.publish(slow_index)
    else:
        name, tries = artifact.obtain(lambda n: print(f"rank {rank}: index not there yet ({n})", flush=True))
        print(f"rank {rank}: {name} after {tries} timeouts", flush=True)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(60):
        x = torch.randn(8, 4)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {rank}: {loss.item():.5f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
