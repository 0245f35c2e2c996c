import random
from collections import deque


class Agent:
    def __init__(self, capacity):
        self.states_seen, self.rewards_seen = deque(maxlen=capacity), []
        self.capacity = capacity
        self.states, self.rewards = [], []

    def begin(self):
        for part in (self.states, self.rewards):
            part.clear()

    def step(self, state, reward):
        self.states.append(state)
        self.rewards.append(reward)

    def end(self):
        self.states_seen.append(self.states)
        self.rewards_seen.append(self.rewards)
        if len(self.rewards_seen) > self.capacity:
            self.rewards_seen.pop(0)

    def sample(self, count):
        return random.sample(range(len(self.states_seen)), count)
