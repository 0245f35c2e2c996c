import math
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from argument import DataArguments, ModelArguments, TrainingArguments, parse
from data_processor import LazySupervisedDataset, write_demo


class VLModel(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.visual = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.GELU(), nn.Flatten())
        self.merger = nn.Linear(16 * 64, hidden)
        self.language = nn.Sequential(nn.GELU(), nn.Linear(hidden, 10))

    def forward(self, pixel_values):
        return self.language(self.merger(self.visual(pixel_values)))


def set_trainable(model, args):
    model.visual.requires_grad_(args.tune_mm_vision)
    model.merger.requires_grad_(args.tune_mm_mlp)


def schedule(optimizer, total, warmup_ratio):
    warmup = max(1, int(total * warmup_ratio))

    def rate(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def train():
    model_args, data_args, args = parse(ModelArguments, DataArguments, TrainingArguments)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)
    if rank == 0 and not os.path.isdir(data_args.data_root):
        write_demo(data_args.data_root)
    dist.barrier()
    dataset = LazySupervisedDataset(data_args.data_root, data_args.dataset_use, data_args.max_samples)
    sampler = DistributedSampler(dataset, shuffle=True, seed=args.seed)
    loader = DataLoader(dataset, args.per_device_train_batch_size, sampler=sampler, drop_last=True)
    net = VLModel(model_args.hidden)
    set_trainable(net, model_args)
    model = DDP(net)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.learning_rate)
    accumulate = args.gradient_accumulation_steps
    total = len(loader) // accumulate * args.num_train_epochs
    scheduler = schedule(optimizer, total, args.warmup_ratio)
    done = 0
    for epoch in range(args.num_train_epochs):
        sampler.set_epoch(epoch)
        running = []
        for i, batch in enumerate(loader):
            last = (i + 1) % accumulate == 0
            model.require_backward_grad_sync = last
            loss = F.cross_entropy(model(batch["pixel_values"]), batch["labels"])
            (loss / accumulate).backward()
            running.append(loss.item())
            if last:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad(set_to_none=True)
                done += 1
        mean = torch.tensor(running).mean()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"{{'epoch': {epoch + 1}, 'step': {done}, 'loss': {mean.item() / dist.get_world_size():.4f}}}", flush=True)
    if rank == 0:
        os.makedirs(args.output_dir, exist_ok=True)
        torch.save(net.state_dict(), os.path.join(args.output_dir, "pytorch_model.bin"))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
