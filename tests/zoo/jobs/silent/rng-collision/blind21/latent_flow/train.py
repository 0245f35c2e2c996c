import argparse
import pathlib

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel

from policy.data import build_loader
from policy.flow import FlowPolicy
from policy.runtime import start, stop


def build_model(cfg):
    data, model = cfg["data"], cfg["model"]
    return FlowPolicy(data["action_dim"], data["state_dim"], data["horizon"], **model, **cfg["flow"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=str(pathlib.Path(__file__).with_name("config.yaml")))
    cfg = yaml.safe_load(open(parser.parse_args().config))
    runtime = start(cfg)
    loader = build_loader(cfg, runtime)
    model = DistributedDataParallel(build_model(cfg))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["train"]["lr"], weight_decay=cfg["train"]["weight_decay"])
    step = 0
    for epoch in range(cfg["train"]["epochs"]):
        loader.sampler.set_epoch(epoch)
        for state, action in loader:
            loss = model(state, action)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % cfg["train"]["log_every"] == 0:
                mean = loss.detach().clone()
                dist.all_reduce(mean)
                runtime.log(f"epoch {epoch} step {step} loss {mean.item() / runtime.world_size:.4f}")
    stop()


if __name__ == "__main__":
    main()
