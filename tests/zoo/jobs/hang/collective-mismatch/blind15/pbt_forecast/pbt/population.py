import logging

import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters

log = logging.getLogger("pbt")


class Population:
    def __init__(self, member, margin=0.0, ready=0):
        self.member, self.margin, self.ready = member, margin, ready
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.generation = 0

    def scores(self):
        mine = torch.tensor([self.member.score()])
        board = [torch.zeros(1) for _ in range(self.size)]
        dist.all_gather(board, mine)
        return [s.item() for s in board]

    def _donor(self, board):
        rivals = [r for r in range(self.size) if r != self.rank]
        return max(rivals, key=board.__getitem__)

    def exploit(self):
        self.generation += 1
        board = self.scores()
        if self.generation <= self.ready:
            return board
        donor = self._donor(board)
        flat = parameters_to_vector(self.member.model.parameters()).detach()
        packet = torch.cat([flat, torch.tensor([self.member.lr])])
        dist.broadcast(packet, src=donor)
        if board[donor] > board[self.rank] + self.margin:
            vector_to_parameters(packet[:-1], self.member.model.parameters())
            self.member.lr = packet[-1].item()
            self.member.explore(1.2 if self.rank % 2 else 0.8)
            log.info("generation %d: took the weights of %d", self.generation, donor)
        return board
