import torch


def one_update_for_each_rollout(model, env, opt, rounds, clip):
    for _ in range(rounds):
        obs, actions, adv = env.rollout(model)
        with torch.no_grad():
            old_logp = model.evaluate(obs, actions)
        logp = model.evaluate(obs, actions)
        ratio = (logp - old_logp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss.backward()
        opt.step()


def on_policy(model, batch, opt, clip):
    logp = model(batch)
    ratio = torch.exp(logp - logp.detach())
    loss = -ratio.clamp(1 - clip, 1 + clip).mean()
    loss.backward()
    opt.step()
