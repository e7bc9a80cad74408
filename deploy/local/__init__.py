"""The supervisor behind `make run`: all processes of the product on one machine."""
