"""Lossless reading and writing of treebanks and text, and the vocabularies built from them."""
