import contextlib
import logging

import torch
import torch.distributed as dist


class Trainer:
    """Epoch loop with gradient accumulation, bf16 autocast and rank-averaged logging."""

    def __init__(self, rank, world_size, max_epoch=2, accum_grad=2, grad_clip=5.0, use_ddp=True, log_interval=10):
        self.rank = rank
        self.world_size = world_size
        self.max_epoch = max_epoch
        self.accum_grad = accum_grad
        self.grad_clip = grad_clip
        self.use_ddp = use_ddp
        self.log_interval = log_interval
        self.step_cur = 0

    def train_epoch(self, model, optim, scheduler, dataloader, epoch):
        model.train()
        optim.zero_grad()
        for batch_idx, batch in enumerate(dataloader):
            my_context = model.no_sync if self.use_ddp and batch_idx % self.accum_grad != 0 else contextlib.nullcontext
            with my_context():
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = model(batch["speech"], batch["speech_lengths"], batch["text"])
                loss = loss / self.accum_grad
                loss.backward()

            if (batch_idx + 1) % self.accum_grad == 0:
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), self.grad_clip)
                if not torch.isfinite(grad_norm):
                    logging.warning("grad norm is %s, skip", grad_norm)
                    optim.zero_grad()
                    continue
                optim.step()
                scheduler.step()
                optim.zero_grad()
                self.step_cur += 1
                if self.step_cur % self.log_interval == 0:
                    self.log(epoch, loss, scheduler)

    @torch.no_grad()
    def log(self, epoch, loss, scheduler):
        value = loss.detach().float() * self.accum_grad
        dist.all_reduce(value)
        if self.rank == 0:
            print(f"epoch {epoch} update {self.step_cur} loss {value.item() / self.world_size:.4f} "
                  f"lr {scheduler.get_last_lr()[0]:.2e}", flush=True)
