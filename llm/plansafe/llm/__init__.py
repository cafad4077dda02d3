"""Clients that call language models: plans and specifications out of text. A later stage; nothing lives here yet."""
