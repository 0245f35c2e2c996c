import collections


def collect(env, policy, episodes):
    memory = collections.deque(maxlen=64)
    for _ in range(episodes):
        steps = []
        steps.clear()
        for state in env.run(policy):
            steps.append(state)
        memory.append(steps)
    return memory


class Agent:
    def __init__(self):
        self.memory, self.states = [], []

    def begin(self):
        self.states.clear()

    def step(self, state):
        self.states.append(state)

    def end(self):
        self.memory.append(self.states)
        self.states = []


def groups(rows, size):
    found, group = [], []
    for row in rows:
        group.append(row)
        if len(group) == size:
            found.append(group)
            group = []
    group.clear()
    return found
