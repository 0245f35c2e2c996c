from collections import deque


class OneForwardOneBackward:
    def __init__(self, stage, num_stages, link, num_microbatches):
        self.stage = stage
        self.num_stages = num_stages
        self.link = link
        self.num_microbatches = num_microbatches

    def step(self, forward_step, inputs):
        m = self.num_microbatches
        warmup = min(self.num_stages - self.stage - 1, m)
        steady = m - warmup
        saved = deque()
        losses = []
        it = iter(range(m))

        def forward(x):
            i = next(it)
            x = inputs[i] if x is None else x
            out, loss = forward_step(x, i)
            if loss is not None:
                losses.append(loss.detach())
            saved.append((x, out, loss))
            return out

        def backward(grad):
            x, out, loss = saved.popleft()
            if loss is not None:
                (loss / m).backward()
            else:
                out.backward(grad)
            return x.grad

        for _ in range(warmup):
            self.link.send_forward(forward(self.link.recv_forward()))

        x = self.link.recv_forward() if steady > 0 else None
        for k in range(steady):
            out = forward(x)
            self.link.send_forward(out)
            grad_in = backward(self.link.recv_backward())
            self.link.send_backward(grad_in)
            if k < steady - 1:
                x = self.link.recv_forward()

        for _ in range(warmup):
            self.link.send_backward(backward(self.link.recv_backward()))
        return losses
