"""Experiments: train and evaluate treebanks × presets × systems × seeds, and compare with the paper."""
