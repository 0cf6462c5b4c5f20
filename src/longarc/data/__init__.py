"""Treebank files in and out, without losing a byte."""
