class Memory:
    def __init__(self):
        self.episodes = []

    def push(self, states, actions):
        self.episodes.append((states, actions))

    def __len__(self):
        return len(self.episodes)
