import collections


def collect(env, policy, episodes):
    memory, steps = collections.deque(maxlen=64), []
    for _ in range(episodes):
        steps.clear()
        state, over = env.reset(), False
        while not over:
            state, reward, over = env.step(policy(state))
            steps.append((state, reward))
        memory.append(steps)
    return memory


def groups(rows, size):
    found, group = [], []
    for row in rows:
        group.append(row)
        if len(group) == size:
            found.append(group)
            del group[:]
    return found


def by_name(files):
    lines, texts = [], {}
    for file in files:
        for line in file:
            lines.append(line)
        texts[file.name] = lines
        lines[:] = []
    return texts
