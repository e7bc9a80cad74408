"""Domains of the brands, banks and services that phishing imitates most often.

Compiled from phishing reports of the APWG and Check Point, and from the most visited sites. Names
of fewer than five letters are left out: too many others look like them.
"""

from __future__ import annotations

_DOMAINS = """
    accenture.com adidas.com adobe.com airbnb.com alibaba.com aliexpress.com allegro.pl
    amazon.com americanexpress.com android.com apple.com atlassian.com bankinter.com
    bankofamerica.com barclays.co.uk bestbuy.com binance.com bitbucket.org blizzard.com
    blockchain.com booking.com caixabank.es canva.com capitalone.com carrefour.es chase.com
    citibank.com cloudflare.com coinbase.com correos.es costco.com creditagricole.fr
    dailymotion.com deutschebank.com discord.com disney.com docusign.com dropbox.com
    duckduckgo.com ebay.com endesa.com epicgames.com etoro.com etsy.com facebook.com fedex.com
    firefox.com fortnite.com github.com gitlab.com gmail.com godaddy.com google.com hotmail.com
    huawei.com iberdrola.es icloud.com instagram.com intesasanpaolo.com kraken.com kutxabank.es
    laposte.fr ledger.com linkedin.com mastercard.com mediamarkt.de mercadolibre.com
    mercadona.es messenger.com metamask.io microsoft.com microsoftonline.com movistar.es
    mozilla.org myspace.com naver.com netflix.com nintendo.com norton.com nubank.com.br
    office.com onedrive.com openai.com opensea.io oracle.com orange.fr outlook.com paypal.com
    pinterest.com playstation.com postbank.de protonmail.com rabobank.nl reddit.com revolut.com
    roblox.com sabadell.com salesforce.com samsung.com santander.com shopify.com skype.com
    slack.com snapchat.com sparkasse.de spotify.com steamcommunity.com steampowered.com
    stripe.com swisscom.ch swisspost.ch target.com telefonica.com telegram.org tesla.com
    tiktok.com trezor.io twitch.tv twitter.com unicaja.es unicredit.it vimeo.com vinted.com
    vodafone.com volksbank.de walmart.com wellsfargo.com wetransfer.com whatsapp.com
    wikipedia.org windows.com wordpress.com yahoo.com yandex.ru youtube.com zalando.com
    zendesk.com zoho.com
"""
WELL_KNOWN = tuple(_DOMAINS.split())
"""Registered domains."""
