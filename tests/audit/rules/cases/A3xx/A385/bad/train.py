import torch


def update(model, opt, obs, actions, adv, epochs, clip):
    for _ in range(epochs):
        for idx in torch.randperm(len(obs)).split(128):
            with torch.no_grad():
                old_logp, _, _ = model.evaluate(obs[idx], actions[idx])
            logp, entropy, value = model.evaluate(obs[idx], actions[idx])
            ratio = (logp - old_logp).exp()
            loss = -torch.min(ratio * adv[idx], ratio.clamp(1 - clip, 1 + clip) * adv[idx]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
