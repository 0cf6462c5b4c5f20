"""Treebank statistics, and scores of parsed files against gold trees."""
