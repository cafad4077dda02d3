"""The editor interface: ``safecheck serve lsp`` implements the Language Server Protocol.

This package does not decide verdicts. It shows the reports of an audit session and the states of an execution.
"""
