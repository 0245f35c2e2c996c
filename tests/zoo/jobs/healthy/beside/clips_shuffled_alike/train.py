import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from stream import NoisyClips


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = NoisyClips(1536, rank, world)
    loader = DataLoader(data, batch_size=16, num_workers=2, drop_last=True)
    net = nn.Sequential(nn.Unflatten(1, (1, 256)), nn.Conv1d(1, 32, 9, 2), nn.ReLU(), nn.Conv1d(32, 32, 9, 2), nn.ReLU(),
                        nn.AdaptiveAvgPool1d(16), nn.Flatten(), nn.Linear(512, 6))
    model = DistributedDataParallel(net)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(2):
        for step, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} steps {step + 1} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
