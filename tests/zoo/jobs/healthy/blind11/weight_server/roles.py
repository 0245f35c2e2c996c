import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def build():
    torch.manual_seed(0)
    return nn.Linear(7, 1)


class Server:
    def __init__(self, workers, updates):
        self.model, self.workers, self.updates = build(), set(workers), updates

    def run(self):
        weights = parameters_to_vector(self.model.parameters()).detach()
        message = torch.empty(len(weights) + 1)
        taken = 0
        while self.workers:
            source = dist.recv(message)
            if message[0] < 0:
                self.workers.discard(source)
                continue
            weights -= 0.05 * message[1:]
            taken += 1
            dist.send(weights, source)
        print(f"server: {taken} updates, error {(weights[:-1] - 1).norm():.4f}", flush=True)


class Worker:
    def __init__(self, rank, steps):
        self.rank, self.steps, self.model = rank, steps, build()

    def run(self):
        for step in range(self.steps):
            x = torch.randn(16, 7)
            loss = nn.functional.mse_loss(self.model(x), x.sum(1, keepdim=True))
            gradient = parameters_to_vector(torch.autograd.grad(loss, list(self.model.parameters())))
            dist.send(torch.cat([torch.tensor([float(step)]), gradient]), 0)
            weights = torch.empty_like(gradient)
            dist.recv(weights, 0)
            vector_to_parameters(weights, self.model.parameters())
            time.sleep(0.02 * self.rank)
        dist.send(torch.cat([torch.tensor([-1.0]), torch.zeros_like(gradient)]), 0)
        print(f"worker {self.rank}: done, loss {loss.item():.4f}", flush=True)
