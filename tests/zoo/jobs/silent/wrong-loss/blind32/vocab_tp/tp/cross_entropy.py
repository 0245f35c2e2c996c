import torch
import torch.distributed as dist


class _VocabParallelCrossEntropy(torch.autograd.Function):
    """Cross entropy over logits whose last dimension is divided over the ranks; nothing of size vocab is gathered."""

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
        ctx.smoothing, ctx.width = smoothing, width
        if smoothing > 0:
            share = smoothing * width / (width - 1)
            mean_log_probs = softmax.log().mean(dim=-1)
            loss = (1.0 - share) * loss - share * mean_log_probs
        ctx.save_for_backward(softmax, outside, local)
        return loss

    @staticmethod
    def backward(ctx, grad):
        softmax, outside, local = ctx.saved_tensors
        out = softmax.clone()
        hit = 1.0 - outside.float()
        rows = torch.arange(len(local))
        if ctx.smoothing > 0:
            share = ctx.smoothing * ctx.width / (ctx.width - 1)
            out[rows, local] -= (1.0 - share) * hit
            out -= share / ctx.width
        else:
            out[rows, local] -= hit
        return out * grad[:, None], None, None


def vocab_parallel_cross_entropy(logits, target, smoothing=0.0):
    return _VocabParallelCrossEntropy.apply(logits, target, smoothing)
