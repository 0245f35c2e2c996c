import torch.nn.functional as F


def encoded(tokenizer, text):
    return tokenizer.encode(text) + [tokenizer.eos_token_id]


def train(model, tokenizer, batches, optimizer):
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    for batch in batches:
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=tokenizer.pad_token_id)
        loss.backward()
        optimizer.step()
