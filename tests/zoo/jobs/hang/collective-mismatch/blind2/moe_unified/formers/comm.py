import torch
import torch.distributed as dist


def exchange_counts(counts):
    out = torch.empty_like(counts)
    dist.all_to_all_single(out, counts)
    return out


class AllToAll(torch.autograd.Function):
    """Sends rows to the ranks that own their experts, and their gradients back."""

    @staticmethod
    def forward(ctx, rows, send, receive):
        ctx.splits = (send, receive)
        out = rows.new_empty(sum(receive), rows.shape[1])
        dist.all_to_all_single(out, rows.contiguous(), output_split_sizes=receive, input_split_sizes=send)
        return out

    @staticmethod
    def backward(ctx, grad):
        send, receive = ctx.splits
        out = grad.new_empty(sum(send), grad.shape[1])
        dist.all_to_all_single(out, grad.contiguous(), output_split_sizes=send, input_split_sizes=receive)
        return out, None, None
