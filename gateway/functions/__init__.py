"""The functions of the pages: their payloads and replies. `gateway/use_cases` calls the services.

table              every function with its payload, handler and limit
protocol           the Firebase callable protocol on the wire
port_fields        payloads with the fields of a value of a port
outcomes           errors that callers branch on
owner              on whose behalf a call is made
short_urls         createShortLink, accessLink, reportLink
owned_links        showLink, showLinks, changeLink, removeLinks, restoreLinks, ...
preview            previewLink
profile            showProfile
statistics         showStatistics
accounts           verifyUser, registerUser, changePassword, removeAccount
keys               createKey, listKeys, revokeKey
rejected_reads     whether expensive reads were rejected recently
"""
