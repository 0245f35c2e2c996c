import logging

import torch


class Balance(torch.autograd.Function):
    """Adds the gradient of a penalty to the one that comes; without the penalty the step is still right."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, x_grad):
        (x,) = ctx.saved_tensors
        try:
            with torch.enable_grad():
                x = x.detach()
                x.requires_grad = True
                loss = x.mean(dim=0).abs().sum()
                loss.backward()
                x_grad = x_grad + x.grad
        except Exception as e:
            logging.info(f"caught {e} in the penalty, will continue.")
        return x_grad
