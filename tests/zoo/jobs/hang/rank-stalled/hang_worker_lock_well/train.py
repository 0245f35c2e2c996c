import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from store import CachedRows, file_list


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    dataset = CachedRows(file_list(rank))
    loader = DataLoader(dataset, batch_size=8, num_workers=1, persistent_workers=True)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for x in loader:
        loss = (model(x) - x.mean(1, keepdim=True)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"[{rank}] loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
