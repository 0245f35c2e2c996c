import argparse
from itertools import chain

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from vla.data import Demos
from vla.finetune_utils import mean_metric, run_forward_pass, wrap_ddp
from vla.models import Backbone, L1RegressionActionHead


def evaluate(vla, head, data):
    vla.eval(), head.eval()
    with torch.no_grad():
        out = (head(vla(data.obs)) - data.actions).abs().mean().item()
    vla.train(), head.train()
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    cfg = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)

    train, held_out = Demos(2048, 0), Demos(1024, 1)
    vla, head = wrap_ddp(Backbone()), wrap_ddp(L1RegressionActionHead())
    optimizer = torch.optim.AdamW(chain(vla.parameters(), head.parameters()), lr=cfg.learning_rate)
    sampler = DistributedSampler(train, shuffle=True, seed=7)
    loader = DataLoader(train, batch_size=cfg.batch_size, sampler=sampler, drop_last=True)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss, metrics = run_forward_pass(vla, head, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        shown = mean_metric(metrics["loss"])
        if rank == 0:
            print(f"epoch {epoch}: loss {shown:.4f} held-out l1 {evaluate(vla.module, head.module, held_out):.4f}", flush=True)
    if rank == 0:
        torch.save({"vla": vla.module.state_dict(), "action_head": head.module.state_dict()}, "/tmp/vla_head.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
