import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from model import build


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    print(f"rank {dist.get_rank()}: building the model", flush=True)
    model = DistributedDataParallel(build(fused=True))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(50):
        x = torch.randn(32, 8)
        loss = cross_entropy(model(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print("final loss", loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
