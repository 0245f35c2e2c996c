import argparse
import logging

import torch
import torch.nn as nn

from .envs import SensorFault, VectorPendulum
from .policy import ActorCritic

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("ppo")


def read(env, last):
    try:
        return env.observe()
    except SensorFault:
        log.debug("sensor fault, the last reading is used again")
        return last.clone()


@torch.no_grad()
def collect(env, net, obs, args):
    buf = {k: [] for k in ("obs", "act", "rew", "val", "next_val", "end")}
    returns, running = [], getattr(env, "running", torch.zeros(env.num))
    for _ in range(args.horizon):
        act = net.dist(obs).sample()
        rew, fallen, late = env.step(act)
        after = read(env, obs)
        running = running + rew
        end = fallen | late
        for k, v in (("obs", obs), ("act", act), ("rew", rew), ("val", net.value(obs)),
                     ("next_val", net.value(after) * ~fallen), ("end", end.float())):
            buf[k].append(v)
        if end.any():
            returns += running[end].tolist()
            running = running * ~end
            try:
                after = env.reset(end)
            except SensorFault:
                after = read(env, after)
        obs = after
    env.running = running
    return {k: torch.stack(v) for k, v in buf.items()}, obs, returns


def advantages(buf, gamma, lam):
    delta = buf["rew"] + gamma * buf["next_val"] - buf["val"]
    adv, last = torch.zeros_like(delta), torch.zeros(delta.shape[1])
    for t in reversed(range(len(delta))):
        last = delta[t] + gamma * lam * (1 - buf["end"][t]) * last
        adv[t] = last
    return adv, adv + buf["val"]


def update(net, optimizer, buf, args):
    adv, ret = advantages(buf, args.gamma, args.lam)
    flat = {k: v.flatten(0, 1) for k, v in {**buf, "adv": adv, "ret": ret}.items()}
    with torch.no_grad():
        old_logp = net.dist(flat["obs"]).log_prob(flat["act"])
    kl, passes = 0.0, 0
    for passes in range(1, args.passes + 1):
        for idx in torch.randperm(len(old_logp)).split(args.minibatch):
            logp = net.dist(flat["obs"][idx]).log_prob(flat["act"][idx])
            ratio = (logp - old_logp[idx]).exp()
            a = flat["adv"][idx]
            a = (a - a.mean()) / (a.std() + 1e-8)
            policy_loss = -torch.min(ratio * a, ratio.clamp(1 - args.clip, 1 + args.clip) * a).mean()
            value_loss = (net.value(flat["obs"][idx]) - flat["ret"][idx]).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - args.entropy * net.log_std.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            kl = ((ratio - 1) - (logp - old_logp[idx])).mean().item()
        if kl > args.target_kl:
            break
    return loss.item(), kl, passes


def main():
    p = argparse.ArgumentParser()
    for name, kind, value in (("iterations", int, 40), ("envs", int, 16), ("horizon", int, 64), ("minibatch", int, 256),
                              ("passes", int, 6), ("lr", float, 1e-3), ("gamma", float, 0.98), ("lam", float, 0.95),
                              ("clip", float, 0.2), ("entropy", float, 0.002), ("target-kl", float, 0.03),
                              ("seed", int, 1)):
        p.add_argument("--" + name, type=kind, default=value)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    env, net = VectorPendulum(args.envs, seed=args.seed), ActorCritic()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr, eps=1e-5)
    anneal = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=args.iterations)
    obs, recent = env.reset(), []
    for it in range(args.iterations):
        buf, obs, returns = collect(env, net, obs, args)
        recent = (recent + returns)[-50:]
        loss, kl, passes = update(net, optimizer, buf, args)
        anneal.step()
        if (it + 1) % 8 == 0:
            log.info("iteration %d loss %.3f kl %.4f passes %d std %.2f return %.1f", it + 1, loss, kl, passes,
                     net.log_std.exp().item(), sum(recent) / max(1, len(recent)))


if __name__ == "__main__":
    main()
