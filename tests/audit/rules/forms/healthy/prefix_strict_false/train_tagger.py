import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from net import Tagger


def main(data, out, epochs=10):
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    blob = torch.load(data, map_location="cpu")
    ds = TensorDataset(blob["ids"], blob["tags"])
    sampler = DistributedSampler(ds, drop_last=True)
    tagger = DistributedDataParallel(Tagger().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.Adam(tagger.parameters(), lr=1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for ids, tags in DataLoader(ds, 64, sampler=sampler):
            loss = F.cross_entropy(tagger(ids.cuda(gpu)).flatten(0, 1), tags.cuda(gpu).flatten(), ignore_index=-1)
            opt.zero_grad()
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save({"weights": tagger.module.state_dict(), "epochs": epochs}, out)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
