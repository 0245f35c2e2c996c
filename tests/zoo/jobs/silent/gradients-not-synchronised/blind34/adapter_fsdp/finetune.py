import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from lora import get_lora_model, lora_state_dict
from model import CausalLM

VOCAB = 64


def load_base(args, mesh):
    torch.manual_seed(args.base_seed)
    model = CausalLM(VOCAB)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def make_dataset(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    start = torch.randint(0, VOCAB, (n, 1), generator=g)
    stride = torch.randint(1, 5, (n, 1), generator=g)
    return TensorDataset((start + stride * torch.arange(length)) % VOCAB)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--lora-rank", type=int, default=4)
    p.add_argument("--base-seed", type=int, default=0)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--output", default="adapter")
    args = p.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = load_base(args, mesh)
    torch.manual_seed(args.seed + rank)
    model = get_lora_model(model, targets=("q_proj", "v_proj", "up"), rank=args.lora_rank)
    trainable = [q for q in model.parameters() if q.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=args.lr, weight_decay=0.0)

    data = make_dataset(480, 24, seed=1)
    sampler = DistributedSampler(data, seed=args.seed)
    loader = DataLoader(data, args.batch_size, sampler=sampler)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))
    for epoch in range(args.epochs):
        model.train()
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for (ids,) in loader:
            logits = model(ids)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trainable, 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total[0] / total[1]:.4f} lr {scheduler.get_last_lr()[0]:.2e}", flush=True)
    if rank == 0:
        os.makedirs(args.output, exist_ok=True)
        torch.save(lora_state_dict(model), os.path.join(args.output, "adapter_model.pt"))
        print("adapter saved", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
