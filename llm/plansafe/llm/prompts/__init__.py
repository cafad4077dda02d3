"""The prompts: versioned, with the common part first."""
