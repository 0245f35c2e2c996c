from memory import Memory


class Player:
    def __init__(self):
        self.memory = Memory()
        self.states, self.actions = [], []

    def play(self, env, policy):
        state, over = env.reset(), False
        while not over:
            action = policy(state)
            self.states.append(state)
            self.actions.append(action)
            state, over = env.step(action)
        self.memory.push(self.states, self.actions)
        self.states.clear()
        self.actions.clear()


def train(env, policy):
    memory, states, actions = Memory(), [], []
    for _ in range(100):
        states.clear()
        actions.clear()
        for state, action in env.run(policy):
            states.append(state)
            actions.append(action)
        memory.push(states, actions)
    return memory
