import torch.nn as nn


def gated(model, gate, inputs):
    handles = []
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            hook = module.register_forward_pre_hook(lambda m, args: (args[0] * gate,))
    handles.append(hook)
    out = model(inputs)
    for one in handles:
        one.remove()
    return out
