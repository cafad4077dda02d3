"""Training on pairs of plans and on texts: ``train(config)`` of ``trainer.py``; docs/alignment.md."""
