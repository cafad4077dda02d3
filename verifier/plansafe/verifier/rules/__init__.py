"""Safety rules: specifications expanded, elaborated into rules, and split into parts that can be monitored."""
