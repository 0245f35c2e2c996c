import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from data import TRAIN, VALID, Scenes
from evaluator import Evaluator, inference_on_dataset


def build_model():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))


def do_train(model, rank, world, epochs=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    evaluator = Evaluator(2)
    train, valid = Scenes(TRAIN, rank, world), Scenes(VALID, rank, world)
    for epoch in range(epochs):
        for image, target in train:
            loss = nn.functional.cross_entropy(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        results = inference_on_dataset(model, valid, evaluator)
        if rank == 0:
            print(epoch, results, flush=True)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    do_train(DistributedDataParallel(build_model()), rank, world)
    dist.destroy_process_group()


main()
