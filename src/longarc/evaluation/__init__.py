"""Counting and scoring: what a treebank is like, and how well trees agree."""
