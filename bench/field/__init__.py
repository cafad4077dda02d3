"""Agreement with published verdicts on plans that language models wrote."""
