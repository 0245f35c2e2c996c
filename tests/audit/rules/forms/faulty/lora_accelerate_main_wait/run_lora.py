import argparse
import logging

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, get_scheduler

from export import push_adapter

logger = logging.getLogger(__name__)


class LoraLinear(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_b.weight)
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * self.lora_b(self.lora_a(x))


def inject(model, names=("q_proj", "v_proj")):
    for p in model.parameters():
        p.requires_grad_(False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in names and isinstance(child, nn.Linear):
                setattr(module, name, LoraLinear(child))
    return model


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="Qwen/Qwen2.5-0.5B")
    p.add_argument("--out", default="adapters")
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--save-steps", type=int, default=200)
    p.add_argument("--accumulate", type=int, default=4)
    return p.parse_args()


def main(rows):
    args = parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulate, mixed_precision="bf16")
    set_seed(7)
    tok = AutoTokenizer.from_pretrained(args.model)
    model = inject(AutoModelForCausalLM.from_pretrained(args.model))

    def collate(batch):
        enc = tok(batch, return_tensors="pt", padding=True, truncation=True, max_length=1024)
        enc["labels"] = enc["input_ids"].masked_fill(enc["attention_mask"] == 0, -100)
        return enc

    loader = DataLoader(rows, batch_size=4, shuffle=True, collate_fn=collate, drop_last=True)
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    total = args.epochs * len(loader) // args.accumulate
    sched = get_scheduler("cosine", opt, num_warmup_steps=50, num_training_steps=total)
    model, opt, loader, sched = accelerator.prepare(model, opt, loader, sched)
    done = 0
    for epoch in range(args.epochs):
        model.train()
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
            if accelerator.sync_gradients:
                done += 1
                if done % args.save_steps == 0 and accelerator.is_main_process:
                    push_adapter(accelerator, model, args.out, done, {"epoch": epoch})  # cause
        logger.info("epoch %d loss %.3f", epoch, loss.item())
    accelerator.end_training()
