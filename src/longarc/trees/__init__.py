"""Dependency trees as arrays of heads, indexed by node: node 0 is the artificial root, node i is word i."""
