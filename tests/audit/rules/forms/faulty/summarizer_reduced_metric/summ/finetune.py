import functools
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel as FSDP, StateDictType
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.utils.data import DataLoader, DistributedSampler

from summ.meters import MeanMeter


class Finetune:
    def __init__(self, model, train, val, collate, patience=2):
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        policy = functools.partial(size_based_auto_wrap_policy, min_num_params=10_000_000)
        self.model = FSDP(model, auto_wrap_policy=policy, device_id=self.device)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=2e-5)
        self.sampler = DistributedSampler(train, shuffle=True)
        self.train_loader = DataLoader(train, 4, sampler=self.sampler, collate_fn=collate)
        self.val_loader = DataLoader(val, 8, sampler=DistributedSampler(val, shuffle=False), collate_fn=collate)
        self.best, self.bad, self.patience = float("inf"), 0, patience

    def step_loss(self, batch):
        batch = {k: v.to(self.device) for k, v in batch.items()}
        labels = batch.pop("labels")
        logits = self.model(**batch)
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        for batch in self.train_loader:
            self.opt.zero_grad(set_to_none=True)
            self.step_loss(batch).backward()
            self.model.clip_grad_norm_(1.0)
            self.opt.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        meter = MeanMeter(self.device)
        for batch in self.val_loader:
            meter.add(self.step_loss(batch), batch["labels"].size(0))
        return meter.compute()

    def save(self, path):
        cfg = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
        with FSDP.state_dict_type(self.model, StateDictType.FULL_STATE_DICT, cfg):
            state = self.model.state_dict()
        if dist.get_rank() == 0:
            torch.save(state, path)

    def fit(self, epochs, path):
        for epoch in range(epochs):
            self.train_epoch(epoch)
            val = self.validate()
            if val < self.best:  # cause
                self.best, self.bad = val, 0
                self.save(path)
            else:
                self.bad += 1
            if self.bad > self.patience:
                break
