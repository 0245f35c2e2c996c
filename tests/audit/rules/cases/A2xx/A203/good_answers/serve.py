"""Rank 0 answers questions, the others help: both come to the same broadcasts, and rank 0 does more with the answer."""
import torch
import torch.distributed as dist


def generate(model, prompt=None, stop=False):
    size = torch.zeros(1, dtype=torch.long)
    if dist.get_rank() == 0:
        size[0] = prompt.numel()
    dist.broadcast(size, src=0)
    tokens = prompt if dist.get_rank() == 0 else torch.zeros(int(size), dtype=torch.long)
    dist.broadcast(tokens, src=0)
    return model(tokens) if not stop else None


def answers(model, prompts):
    for prompt in prompts:
        if dist.get_rank() == 0:
            answer = generate(model, prompt=prompt)
            for token in answer:
                if token == 0:
                    break
                yield token
        else:
            generate(model)
