import math

import torch
from torch import nn


class LoraLinear(nn.Module):
    """A frozen linear layer with a trainable low-rank update; B starts at zero."""

    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T) @ self.lora_B.T * self.scaling


def get_peft_model(model, target_modules):
    model.requires_grad_(False)
    for name, module in list(model.named_modules()):
        if name.split(".")[-1] in target_modules:
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], LoraLinear(module))
    return model


class TinyCausalLM(nn.Module):
    def __init__(self, vocab=32, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, input_ids, labels=None):
        x = self.embed(input_ids)
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        logits = self.lm_head(self.norm(x + self.o_proj(y)))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return {"loss": loss, "logits": logits}
