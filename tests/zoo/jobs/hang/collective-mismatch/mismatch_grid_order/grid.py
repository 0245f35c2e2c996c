import torch.distributed as dist


class Grid:
    """rows x columns ranks; one group for each row and each column."""

    def __init__(self, rows, columns):
        rank = dist.get_rank()
        self.row_index, self.column_index = divmod(rank, columns)
        for r in range(rows):
            group = dist.new_group([r * columns + c for c in range(columns)])
            if r == self.row_index:
                self.row = group
        for c in range(columns):
            group = dist.new_group([r * columns + c for r in range(rows)])
            if c == self.column_index:
                self.column = group

    def average(self, tensors):
        for tensor in tensors:
            dist.all_reduce(tensor, group=self.row)
            dist.all_reduce(tensor, group=self.column)
            tensor /= dist.get_world_size()
