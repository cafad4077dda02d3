"""The editor's door: ``safecheck serve lsp`` speaks the Language Server Protocol over the one service.

Nothing here judges. Diagnostics are the service's reports, states are those of an execution, places are the readers'.
"""
