import torch
import torch.distributed as dist
import torch.nn.functional as F

from checkpointing import CheckpointSaver
from config import TrainConfig
from data_module import SummaryPairs
from model_utils import build_model


def train_epoch(model, optimizer, batches):
    model.train()
    total = torch.zeros(2)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item(), 1.0])
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return (total[0] / total[1]).item()


@torch.no_grad()
def validation(model, batches):
    model.eval()
    total = torch.zeros(2)
    for x, y in batches:
        total += torch.tensor([F.mse_loss(model(x), y).item(), 1.0])
    dist.reduce(total, 0, op=dist.ReduceOp.SUM)
    return (total[0] / total[1]).item()


def fsdp_main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    cfg = TrainConfig()
    data = SummaryPairs(cfg, rank)
    model = build_model(cfg, world_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    saver = CheckpointSaver(cfg.checkpoint_folder, rank)
    best_val_loss = float("inf")

    for epoch in range(cfg.epochs):
        train_loss = train_epoch(model, optimizer, data.train(epoch))
        curr_val_loss = validation(model, data.validation())
        if rank == 0:
            print(f"epoch {epoch} train {train_loss:.4f} val {curr_val_loss:.4f}", flush=True)
        if curr_val_loss < best_val_loss:
            best_val_loss = curr_val_loss
            saver.save(model, epoch, best_val_loss)

    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    fsdp_main()
