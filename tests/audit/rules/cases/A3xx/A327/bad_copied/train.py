import copy

import torch


def refresh(reference, policy):
    reference.load_state_dict(copy.deepcopy(reference.state_dict()))
    reference.scale.data.copy_(reference.scale.data)
    return torch.tensor(0.0)
