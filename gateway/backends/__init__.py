"""The three services as the gateway calls them.

ports                        what the gateway calls, as protocols, and their values
owners                       on whose behalf it calls
auth, links, analytics       the gRPC client of each service
*_messages, protobuf         translation between protobuf and the values of the ports
view_counts                  view counts that may be unavailable
"""
