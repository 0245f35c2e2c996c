import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def centred_ranks(fitness):
    ranks = torch.empty_like(fitness)
    ranks[fitness.argsort()] = torch.linspace(-0.5, 0.5, len(fitness))
    return ranks


class Population:
    """Antithetic pairs around the policy. All ranks know all noise by its seed and try their part of the pairs."""

    def __init__(self, policy, env, config):
        self.policy, self.env, self.config = policy, env, config
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.centre = parameters_to_vector(policy.parameters()).detach()

    def noise(self, generation):
        g = torch.Generator().manual_seed(self.config["seed"] * 100003 + generation)
        return torch.randn(self.config["pairs"], len(self.centre), generator=g)

    def try_out(self, vector, generation):
        vector_to_parameters(vector, self.policy.parameters())
        starts = torch.Generator().manual_seed(self.config["seed"] + generation)
        return self.env.rollout(self.policy, starts)

    @torch.no_grad()
    def gradient(self, generation):
        self.centre = parameters_to_vector(self.policy.parameters()).clone()
        noise = self.noise(generation)
        fitness = torch.zeros(2, len(noise))
        for i in range(self.rank, len(noise), self.world):
            for row, sign in enumerate((1.0, -1.0)):
                fitness[row, i] = self.try_out(self.centre + sign * self.config["sigma"] * noise[i], generation)
        dist.all_reduce(fitness)
        vector_to_parameters(self.centre, self.policy.parameters())
        ranks = centred_ranks(fitness.flatten()).view(2, -1)
        estimate = ((ranks[0] - ranks[1])[:, None] * noise).mean(0) / self.config["sigma"]
        return -estimate, fitness
