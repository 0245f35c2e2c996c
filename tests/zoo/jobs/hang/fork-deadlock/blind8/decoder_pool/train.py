import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from frames import FrameDataset, mean_and_std


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    dataset = FrameDataset(240)
    stats = torch.zeros(2)
    if rank == 0:
        stats = torch.tensor(mean_and_std(dataset, sample=24))
    dist.broadcast(stats, src=0)
    dataset.mean, dataset.std = stats.tolist()
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=10, sampler=sampler, num_workers=2)
    model = DDP(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4 * 16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)))
    optim = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for clip, target in loader:
            loss = (model(clip).squeeze(1) - target).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
