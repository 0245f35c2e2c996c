import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from flow_grpo.ema import EMAModuleWrapper
from flow_grpo.lora import AdapterModel
from flow_grpo.pairs import PreferenceLatents
from flow_grpo.transformer import FlowTransformer


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beta", type=float, default=5.0)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ema-on-main", action="store_true", default=True)
    return parser.parse_args()


def prepare_model(args, is_main_process):
    torch.manual_seed(0)
    model = AdapterModel(FlowTransformer())
    model.add_adapter("learner")
    if is_main_process and args.ema_on_main:
        model.add_adapter("ema")
    model.set_adapter("learner")
    return model


def dpo_loss(model, win, lose, beta):
    t = torch.rand(len(win), 1)
    noise = torch.randn_like(win)
    errors = []
    both = torch.cat([win, lose])
    tt, nn_ = t.repeat(2, 1), noise.repeat(2, 1)
    pred = model((1 - tt) * both + tt * nn_, tt)
    errors = (pred - (nn_ - both)).pow(2).mean(1).chunk(2)
    return -nn.functional.logsigmoid(-beta * (errors[0] - errors[1])).mean()


def main():
    args = parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(prepare_model(args, rank == 0))
    trainable = [p for p in model.parameters() if p.requires_grad]
    ema = EMAModuleWrapper(trainable)
    optimizer = torch.optim.AdamW(trainable, lr=1e-3)
    dataset = PreferenceLatents()
    loader = DataLoader(dataset, 16, sampler=DistributedSampler(dataset))
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for win, lose in loader:
            loss = dpo_loss(model, win, lose, args.beta)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.step()
        if rank == 0:
            print(f"epoch {epoch} dpo loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
