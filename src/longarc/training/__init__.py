"""From a treebank to a model: configuration, training loop, checkpoints."""
