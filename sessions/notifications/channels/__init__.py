"""Ways to reach people. Each is a module with a class that has the shape of `base.Channel`."""
