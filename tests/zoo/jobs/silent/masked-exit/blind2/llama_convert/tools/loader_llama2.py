import torch


def load_checkpoint(queue, args):
    """Reads the source model and sends its tensors, layer by layer."""
    torch.manual_seed(0)
    heads, dim, layers, vocab = 6, 24, 3, 101
    queue.put({"num_layers": layers, "hidden_size": dim, "heads": heads, "true_vocab_size": vocab})
    queue.put({"name": "embeddings", "word_embeddings": torch.randn(vocab, dim)})
    for i in range(layers):
        queue.put({
            "name": f"transformer layer {i}",
            "qkv": torch.randn(3 * dim, dim),
            "dense": torch.randn(dim, dim),
            "mlp": torch.randn(4 * dim, dim),
        })
    queue.put("done")
