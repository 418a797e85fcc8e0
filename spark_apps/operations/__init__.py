"""One module per operation. `spark_apps.driver.dispatch` states what a module contains."""
