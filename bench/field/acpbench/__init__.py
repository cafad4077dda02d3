"""ACPBench-Hard: the eight generative tasks, answered by the engine and replayed by the kernel."""
