"""Algorithms on dependency trees, given as arrays of heads: node 0 is the artificial root, node i is word i."""
