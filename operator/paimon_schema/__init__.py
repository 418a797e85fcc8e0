"""A table's schema in Paimon, and the plan that makes it the declared one. Operator and Spark side use it."""
