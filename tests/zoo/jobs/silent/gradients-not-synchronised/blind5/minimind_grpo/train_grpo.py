import argparse
import copy

import torch
import torch.distributed as dist
from torch import optim
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, DistributedSampler

from model.model_minimind import MiniMindForCausalLM
from trainer_utils import Logger, RLAIFDataset, init_distributed_mode, reward_fn, setup_seed


def per_token_logps(net, ids, keep):
    logits = net(ids)[:, :-1]
    logps = torch.log_softmax(logits, dim=-1)
    return logps.gather(2, ids[:, 1:].unsqueeze(-1)).squeeze(-1)[:, -keep:]


def grpo_train_epoch(epoch, loader, model, ref_model, optimizer, scheduler, args, generator):
    for step, prompts in enumerate(loader, start=1):
        prompts = prompts.repeat_interleave(args.num_generations, dim=0)
        model_unwrapped = model.module if isinstance(model, DistributedDataParallel) else model
        outputs = model_unwrapped.generate(prompts, args.max_gen_len, generator)

        rewards = reward_fn(outputs, prompts.size(1))
        grouped = rewards.view(-1, args.num_generations)
        advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        advantages = advantages.view(-1, 1)

        logps = per_token_logps(model_unwrapped, outputs, args.max_gen_len)
        with torch.no_grad():
            ref_logps = per_token_logps(ref_model, outputs, args.max_gen_len)
        delta = ref_logps - logps
        kl = torch.exp(delta) - delta - 1
        ratio = torch.exp(logps - logps.detach())
        loss = (-(ratio * advantages) + args.beta * kl).mean()

        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()

        if step % args.log_interval == 0:
            Logger(f"epoch {epoch} step {step}: loss {loss.item():.4f} reward {rewards.mean().item():.4f} "
                   f"lr {scheduler.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--num_generations", type=int, default=4)
    parser.add_argument("--max_gen_len", type=int, default=6)
    parser.add_argument("--learning_rate", type=float, default=2e-3)
    parser.add_argument("--beta", type=float, default=0.02)
    parser.add_argument("--grad_clip", type=float, default=1.0)
    parser.add_argument("--log_interval", type=int, default=4)
    args = parser.parse_args()

    torch.set_num_threads(1)
    local_rank = init_distributed_mode()
    setup_seed(42)

    model = MiniMindForCausalLM()
    ref_model = copy.deepcopy(model).eval().requires_grad_(False)
    train_ds = RLAIFDataset(96, 48)
    sampler = DistributedSampler(train_ds)
    loader = DataLoader(train_ds, batch_size=args.batch_size, sampler=sampler)
    optimizer = optim.AdamW(model.parameters(), lr=args.learning_rate)
    scheduler = CosineAnnealingLR(optimizer, T_max=len(loader) * args.epochs, eta_min=1e-4)
    generator = torch.Generator().manual_seed(42 + dist.get_rank())

    model = DistributedDataParallel(model)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        grpo_train_epoch(epoch, loader, model, ref_model, optimizer, scheduler, args, generator)

    dist.barrier()
    dist.destroy_process_group()
