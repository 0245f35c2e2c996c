import torch


class Schedule1F1B:
    """One forward, one backward, after a warmup that fills the stages behind."""

    def __init__(self, stage, comm, loss_fn, micro_batch_size):
        self.stage, self.comm, self.loss_fn = stage, comm, loss_fn
        self.mbs = micro_batch_size
        self.num_warmup = comm.world_size - comm.rank - 1

    def _forward(self, x_in, micro, target, scale):
        out = self.stage(micro if self.comm.is_first else x_in)
        if self.comm.is_last:
            out = self.loss_fn(out, target) * scale
            self.losses.append(out.detach())
        return out

    @staticmethod
    def _backward(x_in, out, grad):
        torch.autograd.backward(out, grad_tensors=grad)
        return None if x_in is None else x_in.grad

    def step(self, inputs, targets):
        micros = inputs.split(self.mbs)
        labels = targets.split(self.mbs)
        n = len(micros)
        scale = 1.0 / n
        self.losses = []
        held = []
        num_steady = n - self.num_warmup

        for i in range(self.num_warmup):
            x_in = self.comm.recv_forward(self.mbs)
            out = self._forward(x_in, micros[i % n], labels[i % n], scale)
            self.comm.send_forward(out)
            held.append((x_in, out))

        x_in = self.comm.recv_forward(self.mbs) if num_steady > 0 else None
        for i in range(num_steady):
            k = i + self.num_warmup
            out = self._forward(x_in, micros[k], labels[k], scale)
            grad = self.comm.send_forward_recv_backward(out, self.mbs)
            held.append((x_in, out))
            x_old, out_old = held.pop(0)
            x_grad = self._backward(x_old, out_old, grad)
            if i == num_steady - 1:
                self.comm.send_backward(x_grad)
            else:
                x_in = self.comm.send_backward_recv_forward(x_grad, self.mbs)

        for i in range(self.num_warmup):
            x_old, out_old = held.pop(0)
            grad = self.comm.recv_backward(self.mbs)
            self.comm.send_backward(self._backward(x_old, out_old, grad))
        return torch.stack(self.losses).sum() if self.losses else torch.zeros(())
