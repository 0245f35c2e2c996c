class Writer:
    def __init__(self, log_dir):
        self.log_dir = log_dir

    def close(self, rank):
        if rank == 0:
            print(self.log_dir)
