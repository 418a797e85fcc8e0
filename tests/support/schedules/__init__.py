"""Random schedules of writes, maintenance and kills on one table, what must be readable after them, and their player.

kinds.py, schedule.py, generator.py and model.py are pure. java_table.py acts in the JVM of the worker, player.py gives
it the steps, and oracle.py compares what pypaimon reads, and which files exist, with the model.

The modules operated_*.py are of a table that an operator maintains. ages.py, automatic_tags.py and effects.py say what
its maintenance has to do, and witness.py compares each driver with it.
"""
