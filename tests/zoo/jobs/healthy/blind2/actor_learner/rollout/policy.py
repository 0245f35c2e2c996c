import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def make_policy(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))


def pack(model):
    return parameters_to_vector(model.parameters()).detach()


def unpack(model, vector):
    vector_to_parameters(vector, model.parameters())
