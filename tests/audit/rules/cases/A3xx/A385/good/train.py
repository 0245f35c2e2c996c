import torch


def update(model, old_model, opt, obs, actions, adv, epochs, clip):
    with torch.no_grad():
        old_logp = model.evaluate(obs, actions)
    for _ in range(epochs):
        for idx in torch.randperm(len(obs)).split(128):
            logp = model.evaluate(obs[idx], actions[idx])
            ratio = (logp - old_logp[idx]).exp()
            loss = -torch.min(ratio * adv[idx], ratio.clamp(1 - clip, 1 + clip) * adv[idx]).mean()
            loss.backward()
            opt.step()


def with_copy(model, old_model, opt, obs, actions, adv, epochs, clip):
    for _ in range(epochs):
        with torch.no_grad():
            old_logp = old_model.evaluate(obs, actions)
        logp = model.evaluate(obs, actions)
        ratio = (logp - old_logp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss.backward()
        opt.step()
