"""What models are told: versioned, with what many prompts share first."""
