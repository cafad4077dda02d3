"""The editor's door: ``safecheck server`` speaks the Language Server Protocol over the one service.

Nothing here judges. Diagnostics are the service's reports, states are those of an execution, places are the readers'.
"""
