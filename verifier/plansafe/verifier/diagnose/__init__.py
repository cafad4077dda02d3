"""What is wrong with a plan, where and why: classes of error, labels, localisation, causes (docs/diagnose.md)."""
