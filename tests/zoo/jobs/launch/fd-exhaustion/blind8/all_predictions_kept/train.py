import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from det_eval import CocoLikeEvaluator
from det_data import Frames


def train_epoch(model, optim, loader):
    for frame, target in loader:
        loss = (model(frame) - target).abs().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train_set, val_set = Frames(480, 1), Frames(800, 2)
    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, batch_size=12, sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=2, num_workers=2)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(24, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)))
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, optim, loader)
        if rank == 0:
            evaluator = CocoLikeEvaluator(model.module)
            evaluator.collect(val_loader)
            print(f"epoch {epoch} loss {loss:.4f} iou {evaluator.summarize():.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
