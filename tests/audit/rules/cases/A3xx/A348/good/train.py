from collections import namedtuple

import torch

Row = namedtuple("Row", "state action reward next_state done")
GAMMA = 0.99


def by_factor(net, batch):
    return batch.reward + GAMMA * (1 - batch.done) * net(batch.next_state).amax(1)


def by_factor_outside(net, batch):
    going_on = 1 - batch.done
    following = GAMMA * net(batch.next_state).amax(1)
    return batch.reward + going_on * following


def by_factor_before(net, batch):
    following = net(batch.next_state).amax(1)
    following = following * batch.done.logical_not()
    return batch.reward + GAMMA * following


def by_where(net, batch):
    following = torch.where(batch.done.bool(), 0.0, net(batch.next_state).amax(1))
    return batch.reward + GAMMA * following


def by_index(net, batch):
    following = net(batch.next_state).amax(1)
    following[batch.done.bool()] = 0
    return batch.reward + GAMMA * following


def by_fill(net, batch):
    following = net(batch.next_state).amax(1)
    following.masked_fill_(batch.done.bool(), 0.0)
    return batch.reward + GAMMA * following


def behind(net, batch):
    goal = batch.reward + GAMMA * net(batch.next_state).amax(1)
    goal[batch.done.bool()] = batch.reward[batch.done.bool()]
    return goal


def one_by_one(net, batch):
    goals = []
    for reward, following, done in zip(batch.reward, batch.next_state, batch.done, strict=True):
        goal = reward if done else reward + GAMMA * net(following).max()
        goals.append(goal)
    return torch.stack(goals)


def one_by_one_left(net, rows, learn):
    for state, action, reward, following, done in rows:
        if done:
            learn(state, action, reward)
            continue
        learn(state, action, reward + GAMMA * net(following).max())


def by_those_that_are_there(net, batch):
    there = torch.tensor([one is not None for one in batch.next_state])
    following = torch.zeros(len(there))
    following[there] = net(torch.stack([one for one in batch.next_state if one is not None])).amax(1)
    return batch.reward + GAMMA * following


def by_discounts(net, s, r, discount, s2, done):
    return r + discount * net(s2).amax(1) - done.float().mean() * 0


def by_discount_of_samples(net, rows):
    state, reward, gamma, following, done = rows
    return reward + gamma * net(following).amax(1)
