"""The verifier in the loop: a model proposes, the verdict comes back in words, and it tries again."""
