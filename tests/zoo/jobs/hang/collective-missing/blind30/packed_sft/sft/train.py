import logging
import os
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.functional import cross_entropy

from sft.config import parse_argv
from sft.data import make_examples, setup_dataloader
from sft.model import setup_model

logger = logging.getLogger("sft")


@dataclass
class World:
    rank: int
    world_size: int


def compute_loss(model, batch):
    logits = model(batch["input_ids"], batch["position_ids"])
    loss = cross_entropy(logits.flatten(0, 1), batch["target_ids"].flatten(), reduction="none")
    mask = batch["loss_mask"].flatten()
    return (loss * mask).sum(), mask.sum()


@torch.no_grad()
def run_eval_loop(model, dataloader, step):
    model.eval()
    total_loss = torch.zeros(())
    total_tokens = torch.zeros(())
    for batch in dataloader:
        loss, tokens = compute_loss(model, batch)
        total_loss += loss
        total_tokens += tokens
    dist.all_reduce(total_loss)
    dist.all_reduce(total_tokens)
    model.train()
    val_loss = (total_loss / total_tokens.clamp(min=1)).item()
    logger.info(f"Validation | Step {step} | Loss: {val_loss:.4f} | Tokens: {int(total_tokens)}")
    return val_loss


def train(config):
    dist.init_process_group("gloo")
    world = World(dist.get_rank(), dist.get_world_size())
    logging.basicConfig(
        level=logging.INFO if world.rank == 0 else logging.WARNING,
        format=f"%(asctime)s [rank {world.rank}] %(message)s",
    )
    mesh = init_device_mesh("cpu", (world.world_size,), mesh_dim_names=("dp_shard",))
    model = setup_model(config.model, mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.optim.lr, weight_decay=config.optim.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.max_steps)

    train_examples = make_examples(config.data.num_examples, config.model.vocab, seed=config.seed)
    val_examples = make_examples(config.val.num_examples, config.model.vocab, seed=config.seed + 1)
    dataiter = iter(setup_dataloader(train_examples, config, world))
    val_dataloader = setup_dataloader(val_examples, config, world, train=False)

    grad_accum_steps = config.data.batch_size // (config.data.micro_batch_size * world.world_size)
    logger.info(f"Starting training loop (max_steps={config.max_steps}, grad_accum_steps={grad_accum_steps})")
    if config.val.eval_on_start:
        run_eval_loop(model, val_dataloader, 0)

    for step in range(1, config.max_steps + 1):
        start = time.time()
        batch_loss = torch.zeros(())
        for micro_step in range(grad_accum_steps):
            model.set_requires_gradient_sync(micro_step == grad_accum_steps - 1)
            loss, tokens = compute_loss(model, next(dataiter))
            loss = loss / tokens.clamp(min=1) / grad_accum_steps
            loss.backward()
            batch_loss += loss.detach()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.optim.max_norm).full_tensor()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        dist.all_reduce(batch_loss)
        batch_loss /= world.world_size
        logger.info(
            f"Step {step} | Time: {time.time() - start:.2f}s | Loss: {batch_loss.item():.4f} "
            f"| Grad. Norm: {grad_norm.item():.4f} | LR: {scheduler.get_last_lr()[0]:.2e}"
        )
        if step % config.val.interval == 0:
            run_eval_loop(model, val_dataloader, step)

    os.makedirs(config.output_dir, exist_ok=True)
    torch.save(model.state_dict(), os.path.join(config.output_dir, f"weights_rank{world.rank}.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    train(parse_argv())
