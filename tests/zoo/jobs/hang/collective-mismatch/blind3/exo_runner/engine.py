import torch
import torch.distributed as dist


class TensorParallelEngine:
    def __init__(self, cfg, rank, world_size):
        generator = torch.Generator().manual_seed(8 + rank)
        part = cfg.hidden // world_size
        self.up = [torch.randn(cfg.hidden, part, generator=generator) / 8 for _ in range(cfg.layers)]
        self.down = [torch.randn(part, cfg.hidden, generator=generator) / 8 for _ in range(cfg.layers)]
        self.hidden, self.world_size = cfg.hidden, world_size

    def _encode(self, prompt):
        seed = sum(prompt.encode())
        return torch.randn(1, self.hidden, generator=torch.Generator().manual_seed(seed))

    def generate(self, task):
        x = self._encode(task.prompt)
        for _ in range(task.max_tokens):
            for up, down in zip(self.up, self.down):
                partial = torch.relu(x @ up) @ down
                dist.all_reduce(partial)
                x = x + partial
        return x.argmax().item()

    def embed(self, task):
        local = torch.tanh(self._encode(task.prompt) @ self.up[0])
        parts = [torch.empty_like(local) for _ in range(self.world_size)]
        dist.all_gather(parts, local)
        return torch.cat(parts, dim=1).norm().item()
