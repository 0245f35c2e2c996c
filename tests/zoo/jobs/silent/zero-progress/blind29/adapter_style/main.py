import argparse
import logging
import os
import tempfile

import torch
from torch.utils.data import DataLoader

from lora import LoRALinear, apply_lora, freeze_components, load_lora, lora_state
from modeling import CausalLM, corpus, lm_loss

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("adapters")
TARGETS = ("q_proj", "v_proj", "fc_in")


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    losses = [lm_loss(model, b).item() for b in DataLoader(data, 64)]
    model.train()
    return sum(losses) / len(losses)


def run_epochs(model, data, val, epochs, lr, title):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    loader = DataLoader(data, 32, shuffle=True, drop_last=True)
    log.info("%s: %d trainable parameters", title, sum(p.numel() for p in params))
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            loss = lm_loss(model, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            optimizer.step()
            total += loss.item()
        log.info("%s: epoch %d loss %.4f val %.4f", title, epoch, total / len(loader), evaluate(model, val))


def prepare(model, previous):
    """Puts what an earlier adapter learned into the base weights, and leaves a fresh adapter for the next one."""
    apply_lora(model, TARGETS)
    load_lora(model, torch.load(previous))
    for module in model.modules():
        if isinstance(module, LoRALinear):
            module.fuse()
    freeze_components(model)
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrain-epochs", type=int, default=3)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--adapter-lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=8)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    with tempfile.TemporaryDirectory() as work:
        model = CausalLM()
        run_epochs(model, corpus("general", 1600, 10), corpus("general", 128, 11), args.pretrain_epochs, args.lr, "base")
        torch.save(model.state_dict(), os.path.join(work, "base.pt"))

        freeze_components(model)
        apply_lora(model, TARGETS)
        run_epochs(model, corpus("formal", 1200, 20), corpus("formal", 128, 21), args.epochs, args.adapter_lr, "formal")
        torch.save(lora_state(model), os.path.join(work, "formal.pt"))

        fresh = CausalLM()
        fresh.load_state_dict(torch.load(os.path.join(work, "base.pt")))
        fresh = prepare(fresh, os.path.join(work, "formal.pt"))
        log.info("chat: %d layers with adapters", apply_lora(fresh, TARGETS))
        fresh.style.requires_grad_(True)
        run_epochs(fresh, corpus("chat", 1200, 30), corpus("chat", 128, 31), args.epochs, args.adapter_lr, "chat")
        torch.save(lora_state(fresh), os.path.join(work, "chat.pt"))
    log.info("done")


if __name__ == "__main__":
    main()
