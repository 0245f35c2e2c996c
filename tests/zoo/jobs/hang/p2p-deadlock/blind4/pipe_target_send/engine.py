"""Fills the pipeline with micro-batches and drains it again."""
import torch
import torch.distributed as dist

from stage import MICRO, WIDTH, PipelineStage


class PipelineEngine:
    def __init__(self, rank, world, data, lr=1e-3):
        self.stage = PipelineStage(rank, world)
        self.optimizer = torch.optim.AdamW(self.stage.parameters(), lr=lr)
        self.data = iter(data) if self.stage.is_first else None
        self.rank, self.world = rank, world

    def load_micro_batch(self):
        features, target = next(self.data)
        self.forward_target(target)
        return features

    def forward_target(self, target):
        """The loss is computed on the last stage, the loader runs on the first."""
        dist.send(target, dst=self.world - 1)

    def receive_target(self):
        target = torch.empty(MICRO, WIDTH)
        dist.recv(target, src=0)
        return target

    def forward(self):
        source = self.load_micro_batch() if self.stage.is_first else self.stage.receive_activation()
        out = self.stage.block(source)
        if self.stage.is_last:
            return source, out, self.receive_target()
        self.stage.send_activation(out)
        return source, out, None

    def backward(self, source, out, target):
        loss = None
        if self.stage.is_last:
            loss = (out - target).pow(2).mean()
            loss.backward()
        else:
            out.backward(self.stage.receive_grad())
        if not self.stage.is_first:
            self.stage.send_grad(source.grad)
        return loss

    def train_batch(self, micro_batches=2):
        self.optimizer.zero_grad()
        total = 0.0
        for _ in range(micro_batches):
            loss = self.backward(*self.forward())
            total += 0.0 if loss is None else loss.item()
        self.optimizer.step()
        return total / micro_batches
