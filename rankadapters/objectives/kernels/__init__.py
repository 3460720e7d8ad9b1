"""Kernels of gradients."""
