"""The three services as the gateway calls them.

auth, links, analytics       the gRPC client of each service
administration               the gRPC clients of their services for administrators
ports                        the values that clients take and return
owners                       on whose behalf the gateway calls
view_counts                  view counts that may be unavailable

Every method of a client may raise Unavailable and DeadlineExceeded. Docstrings list the reasons of
other errors (`services.shared.errors.AppError`), which callers branch on.

Redirects and visits do not depend on clients. They define the methods that they call as protocols
beside the caller (`LinkSource`, `VisitSink`, `KeySource`), which the clients implement.
"""
