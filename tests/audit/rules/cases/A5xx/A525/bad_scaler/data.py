from sklearn.preprocessing import StandardScaler
from torch.utils.data import Dataset


class Loads(Dataset):
    def __getitem__(self, index):
        rows = self.table.iloc[index : index + self.pred_len + self.seq_len].values
        rows = StandardScaler().fit_transform(rows)
        return rows[: self.seq_len], rows[self.seq_len :]
