class Buffers:
    def __init__(self):
        self.states, self.rewards, self.all = [], [], []
        self.all.append(self.states)
        self.all.append(self.rewards)
        self.watched = []

    def watch(self):
        if self.states not in self.watched:
            self.watched.append(self.states)

    def step(self, state, reward):
        self.states.append(state)
        self.rewards.append(reward)

    def reset(self):
        self.states.clear()
        self.rewards.clear()
