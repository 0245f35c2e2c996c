"""Follows the graph behind a loss: shapes and saved numbers of its nodes. Runs nothing, keeps nothing."""
