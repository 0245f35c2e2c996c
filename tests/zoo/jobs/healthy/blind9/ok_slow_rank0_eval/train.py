import contextlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@contextlib.contextmanager
def rank0_works():
    try:
        yield dist.get_rank() == 0
    finally:
        dist.barrier()


def coco_style_eval(net, images):
    seen = []
    with torch.no_grad():
        for i in range(images):
            time.sleep(0.06)
            seen.append(net(torch.full((1, 4), float(i))).argmax().item())
    return sum(seen) / len(seen)


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(2):
        model.train()
        for _ in range(60):
            x = torch.randn(8, 4)
            loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
            opt.zero_grad()
            loss.backward()
            opt.step()
        with rank0_works() as mine:
            if mine:
                model.eval()
                print("ap", coco_style_eval(model.module, 110), flush=True)
    print("rank", dist.get_rank(), "ends with", round(loss.item(), 3))
    dist.destroy_process_group()


main()
