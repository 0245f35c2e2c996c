import asyncio
import copy
import time

import torch
import torch.distributed as dist

from worker.policy import Policy, reward
from worker.rollout import Rollout


class ActorRolloutRefWorker:

    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        torch.manual_seed(0)
        self.actor = Policy(cfg.vocab)
        self.serving = copy.deepcopy(self.actor)
        self.optimizer = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.rollout = Rollout(cfg, self.serving, self.rank)

    def update_actor(self, prompts, answers):
        """Runs in a thread of the pool while the event loop serves the rollouts."""
        advantage = reward(answers)
        advantage = advantage - advantage.mean()
        for _ in range(self.cfg.updates_per_round):
            logp = self.actor(prompts).log_softmax(-1).gather(2, answers[..., None]).squeeze(2)
            loss = -(logp.sum(1) * advantage).mean()
            self.optimizer.zero_grad()
            loss.backward()
            flat = torch.cat([p.grad.flatten() for p in self.actor.parameters()])
            dist.all_reduce(flat)
            self._write_back(flat / dist.get_world_size())
            self.optimizer.step()
            time.sleep(0.2)
        return loss.item()

    def _write_back(self, flat):
        offset = 0
        for p in self.actor.parameters():
            p.grad.copy_(flat[offset : offset + p.numel()].view_as(p))
            offset += p.numel()

    async def update_weights(self):
        """The rollouts get the weights of rank 0."""
        for source, target in zip(self.actor.parameters(), self.serving.parameters()):
            bucket = source.detach().clone()
            dist.broadcast(bucket, src=0)
            target.data.copy_(bucket)
            await asyncio.sleep(0)

    async def fit(self):
        loop = asyncio.get_running_loop()
        batch, update = await self.rollout.generate(0), None
        for i in range(1, self.cfg.rounds + 1):
            update = loop.run_in_executor(None, self.update_actor, *batch)
            batch = await self.rollout.generate(i)
            await self.update_weights()
            loss = await update
            if self.rank == 0:
                print(f"round {i} loss {loss:.4f} reward {reward(batch[1]).mean().item():.3f}", flush=True)
