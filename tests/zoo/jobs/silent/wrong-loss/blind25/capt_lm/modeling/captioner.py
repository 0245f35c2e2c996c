import torch
from torch import nn

from .loss_utils import causal_lm_loss


class CaptionerForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.image_proj = nn.Linear(config.image_dim, config.hidden_size * config.image_tokens)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = nn.Embedding(config.max_length + config.image_tokens, config.hidden_size)
        layer = nn.TransformerEncoderLayer(config.hidden_size, config.num_heads, 2 * config.hidden_size, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.decoder = nn.TransformerEncoder(layer, config.num_layers, enable_nested_tensor=False)
        self.output = nn.Linear(config.hidden_size, config.vocab_size)
        self.loss_function = causal_lm_loss

    def forward(self, pixel_values, input_ids, labels=None):
        bsz, n_img = input_ids.size(0), self.config.image_tokens
        image = self.image_proj(pixel_values).view(bsz, n_img, -1)
        hidden = torch.cat([image, self.embed(input_ids)], dim=1)
        hidden = hidden + self.position(torch.arange(hidden.size(1)))
        mask = nn.Transformer.generate_square_subsequent_mask(hidden.size(1))
        logits = self.output(self.decoder(hidden, mask=mask, is_causal=True))

        loss = None
        if labels is not None:
            shifted_logits = logits[:, n_img:-1, :].contiguous()
            labels = labels[:, 1:].contiguous()
            loss = self.loss_function(
                shifted_logits.view(-1, self.config.vocab_size),
                labels.view(-1),
                vocab_size=self.config.vocab_size,
            )
        return loss, logits

    @torch.no_grad()
    def generate(self, pixel_values, prompt, steps):
        ids = prompt
        for _ in range(steps):
            _, logits = self(pixel_values, ids)
            ids = torch.cat([ids, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        return ids
