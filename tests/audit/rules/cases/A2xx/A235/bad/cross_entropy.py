import torch
import torch.distributed as dist


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, smoothing):
        top = logits.max(dim=-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        logits = logits - top[:, None]
        width = logits.size(-1)
        first = dist.get_rank() * width
        outside = (target < first) | (target >= first + width)
        local = (target - first).masked_fill(outside, 0)
        picked = logits.gather(1, local[:, None])[:, 0].masked_fill(outside, 0.0)
        dist.all_reduce(picked)
        exp = logits.exp()
        total = exp.sum(-1)
        dist.all_reduce(total)
        loss = total.log() - picked
        softmax = exp / total[:, None]
        ctx.save_for_backward(softmax, outside, local)
        if smoothing > 0:
            mean_log_probs = softmax.log().mean(dim=-1)  # of this rank's words
            loss = (1.0 - smoothing) * loss - smoothing * mean_log_probs
        return loss


def entropy(logits, group):
    """The largest is that of all, and the sum under the logarithm is not."""
    top = torch.amax(logits, -1, keepdim=True)
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    shifted = logits - top
    total = torch.sum(torch.exp(shifted), -1, keepdim=True)
    return shifted - torch.log(total)
