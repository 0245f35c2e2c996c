import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from manifest import Manifest, pad_collate


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    loader = DataLoader(Manifest("manifest.jsonl", rank, world), batch_size=8, collate_fn=pad_collate)
    model = DDP(torch.nn.Sequential(torch.nn.AdaptiveAvgPool1d(16), torch.nn.Linear(16, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1)))
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (wave, level) in enumerate(loader):
        loss = (model(wave).squeeze(1) - level).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0 and step % 4 == 0:
            print(f"step {step} frames {wave.shape[1]} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
