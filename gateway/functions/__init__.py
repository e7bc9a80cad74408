"""The functions of the API: their payloads, and the services they call. Services decide.

table              every function with its payload, handler and limit
protocol           the Firebase callable protocol on the wire
outcomes           errors that callers branch on
owner              on whose behalf a call is made
rate_limits        limits by client IP address
short_urls         createShortLink, accessLink, reportLink
owned_links        showLink, showLinks, changeLink, removeLinks, restoreLinks, ...
link_json          a link as JSON for its owner
preview            previewLink, with url_warnings and well_known_domains
profile            showProfile
statistics         showStatistics
accounts           verifyUser, registerUser, changePassword, removeAccount
rejected_reads     whether expensive reads were rejected recently
metrics            counters
"""
