"""The same by scatter_, assigned to a name and to the attribute."""
import torch


class Quantizer(torch.nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.size = size
        self.embedding = torch.nn.Embedding(size, dim)
        self.register_buffer("ema_size", torch.zeros(size))

    def forward(self, x):
        chosen = torch.cdist(x, self.embedding.weight).argmin(1, keepdim=True)
        encodings = torch.zeros(len(x), self.size, device=x.device)
        encodings.scatter_(1, chosen, 1)
        if self.training:
            self.ema_size = self.ema_size * 0.99 + 0.01 * torch.sum(encodings, 0)
            self.embedding.weight.data.copy_((encodings.t() @ x) / self.ema_size.unsqueeze(1))
        return self.embedding(chosen)
