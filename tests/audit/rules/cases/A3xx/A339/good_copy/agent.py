import torch


class Memory:
    def __init__(self):
        self.episodes = []

    def push(self, states):
        self.episodes.append(list(states))


class Agent:
    def __init__(self):
        self.memory, self.other, self.states = [], Memory(), []

    def play(self, env):
        self.states.clear()
        for state in env:
            self.states.append(state)
        self.memory.append(self.states[:])
        self.memory.append(tuple(self.states))
        self.memory.append(torch.stack(self.states))
        self.memory.append(self.states.copy())
        self.other.push(self.states)
