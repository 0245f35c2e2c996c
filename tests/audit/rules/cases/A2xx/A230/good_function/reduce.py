import torch
import torch.distributed as dist


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        product = tensor @ tensor.T
        dist.all_reduce(product)
        return product * 2

    @staticmethod
    def backward(ctx, gradient):
        dist.all_reduce(gradient)
        return gradient
