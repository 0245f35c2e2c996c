class ShardedReader:
    """Gives each worker of the job a contiguous part, as files on disk would be split."""

    def __init__(self, treebank, rank, world):
        size = len(treebank.sentences) // world
        self.sentences = treebank.sentences[rank * size:(rank + 1) * size]

    def __iter__(self):
        return iter(self.sentences)

    def __len__(self):
        return len(self.sentences)
