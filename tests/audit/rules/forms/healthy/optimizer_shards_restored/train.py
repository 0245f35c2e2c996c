import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Checkpoints:
    def __init__(self, folder):
        self.folder, self.rank = folder, dist.get_rank()

    def path(self):
        return os.path.join(self.folder, f"optim_{self.rank}.pt")

    def save(self, opt, epoch):
        torch.save({"opt": opt.state_dict(), "epoch": epoch}, self.path())
        dist.barrier()

    def restore(self, opt):
        held = torch.load(self.path(), map_location="cpu", weights_only=True)
        opt.load_state_dict(held["opt"])
        return held["epoch"] + 1


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    net = nn.Linear(64, 64).to(device)
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    kept = Checkpoints("runs")
    begin = kept.restore(opt) if os.environ.get("RESUME") == "1" else 0
    for epoch in range(begin, 90):
        for _ in range(100):
            x = torch.randn(32, 64, device=device)
            opt.zero_grad(set_to_none=True)
            (model(x) - x).square().mean().backward()
            opt.step()
        kept.save(opt, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
