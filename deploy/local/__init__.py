"""The supervisor behind `make run`: the whole product on one machine, as single processes."""
