import numpy as np
import torch
import torch.multiprocessing as mp
import torch.nn as nn


class Value(nn.Module):
    def __init__(self, cells=9):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cells, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1), nn.Tanh())

    def forward(self, x):
        return self.net(x).squeeze(-1)


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(board):
    for line in LINES:
        total = board[list(line)].sum()
        if abs(total) == 3:
            return int(np.sign(total))
    return 0


def game(net, rng, explore):
    board, seen, side = np.zeros(9, np.float32), [], 1
    while winner(board) == 0 and (board == 0).any():
        free = np.flatnonzero(board == 0)
        after = np.repeat(board[None], len(free), 0)
        after[np.arange(len(free)), free] = side
        with torch.no_grad():
            score = side * net(torch.from_numpy(after)).numpy()
        pick = rng.integers(len(free)) if rng.random() < explore else int(score.argmax())
        board = after[pick]
        seen.append(board.copy())
        side = -side
    return np.stack(seen), np.full(len(seen), winner(board), np.float32)


def play(seed, weights, games):
    torch.set_num_threads(1)
    net, rng = Value(), np.random.default_rng(seed)
    while True:
        state = weights.get()
        if state is None:
            return
        net.load_state_dict({k: torch.from_numpy(v) for k, v in state.items()})
        boards, results = zip(*(game(net, rng, 0.1) for _ in range(50)))
        games.put((np.concatenate(boards), np.concatenate(results)))


def start(count, seed):
    context = mp.get_context("spawn")
    weights, games = context.Queue(), context.Queue()
    players = [context.Process(target=play, args=(seed + i, weights, games), daemon=True) for i in range(count)]
    for p in players:
        p.start()
    return players, weights, games
