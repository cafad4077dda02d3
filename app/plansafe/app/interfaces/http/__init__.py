"""The HTTP service: routes, authentication and limits around the operations of ``interfaces.agents``."""
