import torch
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from learner import Learner, sample_task
from uutils.distributed import cleanup, setup_process


def train(rank, world_size, iterations):
    setup_process(rank, world_size)
    torch.manual_seed(rank)
    model = DistributedDataParallel(Learner())
    optimizer = torch.optim.Adam(model.parameters())
    for it in range(iterations):
        x, y = sample_task()
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print("loss", loss.item())
    cleanup()


if __name__ == "__main__":
    mp.spawn(train, args=(2, 100), nprocs=2)
