from sklearn.model_selection import train_test_split


class Recordings:
    def __init__(self, rows):
        self.rows = rows

    def train_rows(self):
        train, _ = train_test_split(self.rows, test_size=0.2)
        return train

    def test_rows(self):
        _, test = train_test_split(self.rows, test_size=0.2)
        return test
