import contextlib
import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, optimizer, scheduler, train_loader, conf, output_dir):
        self.model = model
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.loader = train_loader
        self.accum_grad = conf["accum_grad"]
        self.grad_clip = conf["grad_clip"]
        self.max_epoch = conf["epochs"]
        self.output_dir = output_dir
        self.use_ddp = dist.is_initialized() and dist.get_world_size() > 1
        self.rank = dist.get_rank() if self.use_ddp else 0

    def run(self):
        for epoch in range(self.max_epoch):
            self.loader.sampler.set_epoch(epoch)
            loss, acc = self._train_epoch(epoch)
            if self.rank == 0:
                self._save(epoch)
                logging.info("epoch %d: loss %.4f acc %.3f lr %.5f", epoch, loss, acc, self.scheduler.get_last_lr()[0])
            if self.use_ddp:
                dist.barrier()

    def _train_epoch(self, epoch):
        self.model.train()
        stats = torch.zeros(3)
        self.optimizer.zero_grad()
        for batch_idx, (wave, label) in enumerate(self.loader):
            sync = batch_idx % self.accum_grad == 0
            context = self.model.no_sync if self.use_ddp and not sync else contextlib.nullcontext
            with context():
                logits = self.model(wave)
                loss = F.cross_entropy(logits, label)
                (loss / self.accum_grad).backward()
            stats += torch.tensor([loss.item() * len(label), (logits.argmax(1) == label).sum().item(), len(label)])
            if (batch_idx + 1) % self.accum_grad == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.grad_clip)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
        if self.use_ddp:
            dist.all_reduce(stats)
        return (stats[0] / stats[2]).item(), (stats[1] / stats[2]).item()

    def _save(self, epoch):
        os.makedirs(self.output_dir, exist_ok=True)
        net = self.model.module if self.use_ddp else self.model
        torch.save({"state_dict": net.state_dict(), "epoch": epoch}, os.path.join(self.output_dir, "last.pt"))
