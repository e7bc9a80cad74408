"""What is known of a visit: person or bot, device, country, language, referrer, visitor.

visitors         kind, facts and visitor number by client
classification   person or bot, prefetch, referrer (with bot_patterns)
countries        country by IP address
languages        known language codes
referrer_limit   limits the referrer names of one client
visitor_key      the day's key for visitor numbers
"""
