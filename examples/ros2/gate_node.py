"""A ROS 2 node between planner and executor: passes on the actions that safecheck allows, and says why others are not.

Topics (std_msgs/String): ``~/proposed`` an action in PDDL, from the planner; ``~/approved`` the same, to the executor;
``~/refused`` why not; ``~/done`` an action that was carried out; ``~/seen`` literals that hold, separated by newlines;
``~/alarm`` rules that are broken in the state as it was seen.
"""

from __future__ import annotations

import os

import rclpy
from rclpy.node import Node
from safecheck_client import Gate, Refused
from std_msgs.msg import String


class GateNode(Node):
    """Asks before each action. What cannot be asked is refused."""

    def __init__(self) -> None:
        super().__init__("safecheck_gate")
        address = self.declare_parameter("address", "http://127.0.0.1:8731").value
        problem = self.declare_parameter("problem", "problem.pddl").value
        with open(problem, encoding="utf-8") as file:
            task = {"problem": file.read()}
        self.gate = Gate(address, task, os.environ.get("SAFECHECK_API_KEY"))
        self.approved = self.create_publisher(String, "~/approved", 10)
        self.refused = self.create_publisher(String, "~/refused", 10)
        self.alarm = self.create_publisher(String, "~/alarm", 10)
        self.create_subscription(String, "~/proposed", self.on_proposed, 10)
        self.create_subscription(String, "~/done", self.on_done, 10)
        self.create_subscription(String, "~/seen", self.on_seen, 10)

    def on_proposed(self, message: String) -> None:
        """The planner proposes an action."""
        allowed, why = self.gate.allowed(message.data)
        (self.approved if allowed else self.refused).publish(String(data=message.data if allowed else why))

    def on_done(self, message: String) -> None:
        """The executor has carried it out."""
        try:
            self.gate.took(message.data)
        except Refused as why:
            self.lost(why)

    def on_seen(self, message: String) -> None:
        """The sensors see something."""
        try:
            for broken in self.gate.saw([line for line in message.data.splitlines() if line.strip()]):
                self.alarm.publish(String(data=broken))
        except Refused as why:
            self.lost(why)

    def lost(self, why: Refused) -> None:
        """What the session knows is no longer what happened: nothing more may be allowed."""
        self.alarm.publish(String(data=f"the session is lost: {why}"))
        self.get_logger().fatal(str(why))
        raise SystemExit(1)


def main() -> None:
    """Run the node."""
    rclpy.init()
    rclpy.spin(GateNode())


if __name__ == "__main__":
    main()
