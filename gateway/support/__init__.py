"""Helpers that every package of the gateway may use. They use no other package.

backups                        metrics of the automatic backups
batcher, single_flight         combine concurrent calls
client_ip                      the client's IP address behind proxies
content_negotiation            content coding by Accept-Encoding
failures                       requests that fail, are cancelled, or whose client disconnects
headers, request_id            headers and id of a request
edge                           routes, headers and limits from deploy/edge.toml
metrics                        metrics from plain integers
rate_limits                    limits by client IP address or API key
timestamps                     ISO 8601
user_agents                    device, browser and system of a User-Agent
"""
