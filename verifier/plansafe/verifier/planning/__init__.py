"""Planners behind one port: is there a safe continuation to the goal, and how long is the shortest?"""
