"""Random schedules of writes, maintenance and kills on one table, what must be readable after them, and their player.

kinds.py, schedule.py, generator.py and model.py are pure. java_table.py acts in the JVM of the worker, player.py gives
it the steps, and oracle.py compares what pypaimon reads, and which files exist, with the model.
"""
