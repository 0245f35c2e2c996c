"""Rules A176 to A189: how data is split, ordered, numbered and labelled, and the lists that runs are made of."""
