import torch
import torch.distributed as dist
import torch.nn.functional as F

from config import ExperimentConfig, ShampooConfig
from model import BagOfTokens, batches
from shampoo import DistributedShampoo


def average_gradients(model):
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in grads])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for grad, part in zip(grads, flat.split([g.numel() for g in grads])):
        grad.copy_(part.view_as(grad))


def run_stage(stage, model, optimizer, cfg, rank):
    model.freeze(stage.frozen)
    for step, (ids, labels) in enumerate(batches(cfg, rank, stage.steps), 1):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(ids), labels)
        loss.backward()
        average_gradients(model)
        optimizer.step()
        if rank == 0 and step % 4 == 0:
            print(f"{stage.name} step {step} loss {loss.item():.3f}", flush=True)


def main():
    dist.init_process_group("gloo")
    cfg = ExperimentConfig()
    torch.manual_seed(cfg.seed)
    model = BagOfTokens(cfg)
    optimizer = DistributedShampoo(model.parameters(), ShampooConfig())
    for stage in cfg.stages:
        run_stage(stage, model, optimizer, cfg, dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
