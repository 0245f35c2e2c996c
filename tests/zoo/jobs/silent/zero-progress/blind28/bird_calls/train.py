import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

import setup_run
from calls import Calls


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    sums = torch.zeros(3)
    for power, species in loader:
        scores = model(power)
        sums += torch.stack([torch.nn.functional.cross_entropy(scores, species, reduction="sum"),
                             (scores.argmax(1) == species).sum().float(), torch.tensor(float(len(species)))])
    dist.all_reduce(sums)
    return (sums[0] / sums[2]).item(), (sums[1] / sums[2]).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", nargs="+", default=["conf/base.yaml", "conf/island.yaml"])
    parser.add_argument("--out", default="calls.pt")
    args = parser.parse_args()
    config = setup_run.read(*args.conf)
    shape, train = config["model"], config["train"]

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(config["seed"])
    species = shape.get("adapt_to", shape["species"])
    fit = Calls(config["data"]["count"], species, shape["bands"], shape["frames"], seed=1)
    held = Calls(config["data"]["held"], species, shape["bands"], shape["frames"], seed=2)
    sampler = DistributedSampler(fit)
    loader = DataLoader(fit, train["batch"], sampler=sampler, drop_last=True)
    held_loader = DataLoader(held, train["batch"], sampler=DistributedSampler(held, shuffle=False))
    model, optimizer, schedule = setup_run.build(config, train["epochs"] * len(loader))

    for epoch in range(train["epochs"]):
        sampler.set_epoch(epoch)
        model.train()
        for power, label in loader:
            loss = torch.nn.functional.cross_entropy(model(power), label)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), train["clip"])
            optimizer.step()
            schedule.step()
        held_loss, accuracy = evaluate(model.module, held_loader)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} held {held_loss:.3f} accuracy {accuracy:.3f}", flush=True)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "config": config}, args.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
