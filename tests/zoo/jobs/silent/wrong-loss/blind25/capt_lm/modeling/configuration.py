from dataclasses import dataclass


@dataclass
class CaptionConfig:
    vocab_size: int = 64
    hidden_size: int = 64
    num_layers: int = 2
    num_heads: int = 4
    image_tokens: int = 4
    image_dim: int = 16
    max_length: int = 32
