import torch
import torch.distributed as dist
from torch import nn


class SFTTrainer:
    def __init__(self, state, tokens, lr=0.5):
        self.state, self.lr = state, lr
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Embedding(64, 16), nn.Linear(16, 64))
        self.tokens = torch.tensor(tokens)[state.process_index :: state.num_processes]

    def step(self, batch):
        logits = self.model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        for param in self.model.parameters():
            dist.all_reduce(param.grad)
            param.data -= self.lr * param.grad / self.state.num_processes
            param.grad = None
        return loss.item()

    def train(self, epochs):
        for epoch in range(epochs):
            losses = [self.step(batch) for batch in self.tokens.split(25)]
            if self.state.is_main_process:
                print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f}", flush=True)
