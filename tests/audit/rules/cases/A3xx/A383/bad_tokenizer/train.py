from torch import nn
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
embed = nn.Embedding(30522, 64)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 2)


def encode(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    return encoder(embed(batch["input_ids"]), src_key_padding_mask=batch["attention_mask"].bool())
