"""gRPC servers and clients.

server    runs a service process: opens the store, serves, drains, closes
handlers  handles every served call: request id, metrics, log line, errors to statuses
channels  channels to all replicas of a service, with retries
client    base class of the clients of one service
fields    converts between messages and values with the same fields
status    converts between errors and gRPC statuses
"""
