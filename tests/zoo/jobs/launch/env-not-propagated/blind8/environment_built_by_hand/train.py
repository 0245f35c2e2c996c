import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from settings import Settings
from shards import open_shard


def main():
    dist.init_process_group("gloo")
    settings = Settings.from_environment()
    torch.manual_seed(settings.seed)
    x, y = open_shard(settings.corpus_root, dist.get_rank())
    model = DDP(torch.nn.Linear(x.shape[1], 1))
    optim = torch.optim.SGD(model.parameters(), lr=settings.lr)
    for epoch in range(20):
        loss = (model(x).squeeze(1) - y).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
