import os

import torch
import torch.distributed as dist
from nets import Encoder
from torch.nn.parallel import DistributedDataParallel


def keep(path, model, step):
    torch.save({"net": model.state_dict(), "step": step}, path + ".part")
    os.replace(path + ".part", path)


def main():
    dist.init_process_group("nccl")
    net = DistributedDataParallel(torch.compile(Encoder().cuda()))
    optimizer = torch.optim.AdamW(net.parameters())
    for step, x in enumerate(torch.load("batches.pt")):
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()
        if dist.get_rank() == 0 and step % 100 == 0:
            keep("encoder.pt", net, step)
    dist.destroy_process_group()


main()
