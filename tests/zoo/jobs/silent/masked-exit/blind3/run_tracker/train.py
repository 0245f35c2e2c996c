import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from augment import Augmenter
from config import section
from data import Blobs
from tracking import RunContext


def build(cfg):
    return nn.Sequential(
        nn.Linear(cfg["inputs"], cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], cfg["classes"])
    )


def run_epoch(epoch, model, optimizer, data, augment):
    total = torch.zeros(2)
    for inputs, labels in data.epoch():
        loss = nn.functional.cross_entropy(model(augment(inputs, epoch)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item(), 1.0])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    loop_cfg = section("loop")
    torch.manual_seed(loop_cfg["seed"])
    model = DistributedDataParallel(build(section("model")))
    optimizer = torch.optim.SGD(model.parameters(), **section("optim"))
    data, augment = Blobs(section("model"), loop_cfg, rank), Augmenter(section("augment"))
    with RunContext("blobs-baseline", rank) as run:
        for epoch in range(loop_cfg["epochs"]):
            run.log(epoch=epoch, loss=run_epoch(epoch, model, optimizer, data, augment))
        run.log(parameters=sum(p.numel() for p in model.parameters()))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
