import torch


def train(text_encoder, tokenizer, loader, token_id, loss_of):
    optimizer = torch.optim.AdamW(text_encoder.get_input_embeddings().parameters(), lr=5e-4)
    for batch in loader:
        loss_of(text_encoder, batch).backward()
        grads = text_encoder.get_input_embeddings().weight.grad
        others = torch.arange(len(tokenizer)) != token_id
        grads.data[others, :] = grads.data[others, :].fill_(0)
        optimizer.step()
        optimizer.zero_grad()
