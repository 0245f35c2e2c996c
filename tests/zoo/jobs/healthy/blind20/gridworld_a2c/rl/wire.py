import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters

ROLLOUT, WEIGHTS, GO_ON = 1, 2, 3


def send_rollout(rollout, learner):
    dist.send(rollout, learner, tag=ROLLOUT)


def recv_rollout(horizon):
    buffer = torch.empty(horizon, 4 + 1 + 1)
    source = dist.recv(buffer, tag=ROLLOUT)
    return buffer, source


def send_weights(model, actor, go_on):
    dist.send(torch.tensor([int(go_on)]), actor, tag=GO_ON)
    if go_on:
        dist.send(parameters_to_vector(model.parameters()).detach(), actor, tag=WEIGHTS)


def recv_weights(model, learner):
    flag = torch.zeros(1, dtype=torch.long)
    dist.recv(flag, learner, tag=GO_ON)
    if not flag.item():
        return False
    vector = parameters_to_vector(model.parameters()).detach().clone()
    dist.recv(vector, learner, tag=WEIGHTS)
    vector_to_parameters(vector, model.parameters())
    return True
