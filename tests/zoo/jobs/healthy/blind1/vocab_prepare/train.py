import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from assets import prepare, wait_for


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder)
    if rank == 0:
        prepare(folder[0])
    vocab = wait_for(os.path.join(folder[0], "vocab.txt"))
    model = DistributedDataParallel(nn.Embedding(len(vocab), 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(40):
        loss = model(torch.randint(len(vocab), (16,))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(rank, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
