import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class PairSchedule:
    """Round-robin tournament: who meets whom in a given round (even world)."""

    def __init__(self, world):
        self.world = world
        self.round = 0

    def table(self, r):
        n = self.world
        ring = list(range(1, n))
        k = r % (n - 1)
        ring = ring[k:] + ring[:k]
        seats = [0] + ring
        return {a: b for i in range(n // 2) for a, b in ((seats[i], seats[n - 1 - i]), (seats[n - 1 - i], seats[i]))}

    def next_partner(self, me):
        p = self.table(self.round)[me]
        self.round += 1
        return p


class GossipMixer:
    def __init__(self, model, weight=0.5, quorum=4):
        self.model = model
        self.weight = weight
        self.quorum = quorum
        self.schedule = PairSchedule(dist.get_world_size())
        self.rank = dist.get_rank()

    def exchange(self, flat, partner):
        other = torch.empty_like(flat)
        if self.rank < partner:
            dist.send(flat, partner)
            dist.recv(other, partner)
        else:
            dist.recv(other, partner)
            dist.send(flat, partner)
        return other

    def mix(self, fresh_samples):
        if fresh_samples < self.quorum:
            return None
        partner = self.schedule.next_partner(self.rank)
        flat = parameters_to_vector(self.model.parameters()).detach()
        other = self.exchange(flat, partner)
        vector_to_parameters(flat.lerp(other, self.weight), self.model.parameters())
        return partner
