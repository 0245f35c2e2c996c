import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler

from asr_datamodule import AsrDataModule


def step(model, optim, batch):
    x, y = batch
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optim.zero_grad()
    loss.backward()
    optim.step()
    return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    module = AsrDataModule(seed=42)
    train_loader = module.train_dataloader(rank, dist.get_world_size())
    model = DDP(torch.nn.Sequential(torch.nn.Linear(20, 48), torch.nn.ReLU(), torch.nn.Linear(48, 5)))
    optim = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        train_loader.sampler.set_epoch(epoch)
        losses = [step(model, optim, batch) for batch in train_loader]
        if rank == 0:
            model.eval()
            with torch.no_grad():
                hits = sum((model.module(x).argmax(1) == y).sum().item() for x, y in module.valid_dataloader())
            model.train()
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} hits {hits}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
