"""Measurements for the training of models: pairs, the cost of regrets, the speed of rewards."""
