"""The editor interface: ``safecheck server`` implements the Language Server Protocol.

This package does not decide verdicts. It shows the reports of an audit session and the states of an execution.
"""
