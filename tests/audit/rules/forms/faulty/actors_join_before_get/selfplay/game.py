import numpy as np
import torch
from torch import nn


class PolicyValue(nn.Module):
    def __init__(self, board=9):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(board * board, 256), nn.ReLU())
        self.pi, self.v = nn.Linear(256, board * board), nn.Linear(256, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1).tanh()


def play(seed, weights, games, queue):
    rng = np.random.default_rng(seed)
    torch.set_num_threads(1)
    net = PolicyValue()
    net.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
    rows = []
    for _ in range(games):
        board, moves = np.zeros(81, np.float32), []
        for turn in range(60):
            with torch.no_grad():
                logits, _ = net(torch.from_numpy(board)[None])
            p = logits[0].softmax(0).numpy() * (board == 0)
            p = p / p.sum()
            move = rng.choice(81, p=p)
            moves.append((board.copy(), p.astype(np.float32)))
            board = -board
            board[move] = -1
        outcome = float(np.sign(board.sum()))
        rows += [(b, q, outcome * (-1) ** i) for i, (b, q) in enumerate(moves)]
    queue.put(rows)
