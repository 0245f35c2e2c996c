import torch


class _Schedule:

    def __init__(self, stage, n_microbatches, loss_fn):
        self.stage, self.n_microbatches, self.loss_fn = stage, n_microbatches, loss_fn

    def step(self, x, y):
        xs = torch.tensor_split(x, self.n_microbatches)
        ys = torch.tensor_split(y, self.n_microbatches)
        self.stage.losses.clear()
        self._step_microbatches(xs, ys)
        return torch.stack(self.stage.losses).mean() if self.stage.is_last else None

    def _forward(self, mb, xs, ys):
        self.stage.forward_one(mb, xs[mb], ys[mb], self.loss_fn)
        self.stage.send_forward(mb)

    def _backward(self, mb):
        grad = self.stage.backward_one(mb)
        self.stage.send_backward(mb, grad)


class Schedule1F1B(_Schedule):
    """One forward, one backward in the steady state, as in PipeDream-Flush."""

    def _step_microbatches(self, xs, ys):
        warmup_chunks = min(self.n_microbatches, self.stage.num_stages - self.stage.index)
        fwd_mb = bwd_mb = 0
        for _ in range(warmup_chunks):
            self._forward(fwd_mb, xs, ys)
            fwd_mb += 1
        while fwd_mb < self.n_microbatches:
            self._backward(bwd_mb)
            bwd_mb += 1
            self._forward(fwd_mb, xs, ys)
            fwd_mb += 1
        while bwd_mb < self.n_microbatches:
            self._backward(bwd_mb)
            bwd_mb += 1
