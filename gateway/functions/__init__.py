"""The functions of the pages: their payloads and replies. `gateway/use_cases` calls the services.

table              every function with its handler and limit, and errors that callers branch on
protocol           the Firebase callable protocol on the wire, and what payloads are made of
owner              on whose behalf a call is made
short_urls         createShortLink, accessLink, reportLink
owned_links        showLink, showLinks, showProfile, changeLink, removeLinks, restoreLinks, ...
preview            previewLink
statistics         showStatistics
accounts           verifyUser, registerUser, changePassword, removeAccount
passkeys           listPasskeys, beginPasskey, finishPasskey, ...
keys               createKey, listKeys, revokeKey
oidc               beginOidc, finishOidc, linkOidc, listConnections, removeConnection
administration     listReports, decide, listAccounts, changeAccount, createInvitation, ...
sessions           listSessions, endSession, endOtherSessions
imports            checkImport, importLinks, undoImport, listImports
rejected_reads     whether expensive reads were rejected recently
"""
