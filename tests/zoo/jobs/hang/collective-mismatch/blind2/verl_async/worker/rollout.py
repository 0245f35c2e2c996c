import asyncio

import torch


class Rollout:
    """Answers come from an engine elsewhere; some prompts take much longer than others."""

    def __init__(self, cfg, policy, rank):
        self.cfg, self.policy, self.rank = cfg, policy, rank
        self.generator = torch.Generator().manual_seed(rank)

    def lengths(self, round_index):
        longest = 6 if self.rank == 0 or round_index < 2 else 60
        return [3] * (self.cfg.prompts - 1) + [longest]

    async def _one(self, prompt, length):
        await asyncio.sleep(length * self.cfg.token_seconds)
        with torch.no_grad():
            logits = self.policy(prompt[None])[0]
        return torch.multinomial(logits.softmax(-1), 1, generator=self.generator).squeeze(1)

    async def generate(self, round_index):
        prompts = torch.randint(0, self.cfg.vocab, (self.cfg.prompts, self.cfg.prompt_length), generator=self.generator)
        lengths = self.lengths(round_index)
        answers = await asyncio.gather(*[self._one(p, n) for p, n in zip(prompts, lengths)])
        return prompts, torch.stack(answers)
