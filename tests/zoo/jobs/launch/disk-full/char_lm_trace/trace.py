class Trace:
    """Embeddings after each step, for the animation."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def add(self, weight):
        array = weight.detach().numpy()
        self.file.write(array.tobytes())
        self.file.flush()
