/** The terms of use and the privacy policies. */
import type { ReactNode } from 'react';
import type storedData from './stored.json';

/** The parts of a paragraph that are links. */
export interface Links {
  contact: ReactNode;
  settings: (text: string) => ReactNode;
  terms: (text: string) => ReactNode;
  privacy: (text: string) => ReactNode;
}

export const article = {
  contents: 'Contents',
  since: (date: ReactNode) => <>In force since {date}</>,
  operator: 'the operator of this site',
};

export const terms = {
  title: 'Terms of use',
  description:
    'The rules for using Atajo: links of up to 999 characters, what is stored, what is not allowed and which law applies.',
  intro: 'The rules for using Atajo. By using it, you accept them.',

  service: {
    title: 'The service',
    text: 'Atajo turns a long link into a short link and redirects everyone who opens it to the long link. It also creates QR codes, which are drawn in your browser.',
    ownership:
      'Both are free and do not require an account. Links that you create without an account belong to the browser you created them in: there you can see their views, change them and remove them. With an account, you find your links wherever you log in, can add the links of a browser to it, and can choose custom endings of 4 to 32 characters.',
    accountsOnly:
      'Both are free. Creating short links requires an account, with which you find your links wherever you log in, and can choose custom endings of 4 to 32 characters. QR codes do not require one.',
  },
  links: {
    title: 'Links',
    limits:
      'A link can have at most 999 characters and must be a web address (http or https). Short links of Atajo itself are refused, because they would redirect in a loop.',
    settings:
      'The owner of a link can add a title, tags and an expiry date, and can change its destination. Earlier destinations are stored with the time of each change, and only the owner can see them. An expired link shows that it has expired, or redirects to a destination that its owner chose for that case.',
    public: 'Anyone who has a short link can open it. Do not shorten links that must stay secret.',
  },
  conduct: {
    title: 'Prohibited use',
    intro: 'Do not use Atajo:',
    rules: [
      'for anything that is illegal in your country or in Spain;',
      'to lead people to malware, fraud or stolen data, or to conceal who is behind it;',
      'to send unsolicited messages;',
      'to overload the service or to circumvent its limits.',
    ],
    consequences:
      'The operator can block or remove links that break these rules, and delete accounts. A blocked link shows that it was blocked. The number of links, registrations and logins per period is limited.',
  },
  accounts: {
    title: 'Accounts',
    use: 'An account belongs to one email address. Keep your password secret: you are responsible for what is done with it. A session lasts four hours. Changing your password ends all other sessions.',
    data: 'When you register, we store: your email, your encrypted password, its salt, your username and the creation date.',
  },
  stored: {
    title: 'Stored link data',
    data: 'For every link: its code, the original URL and the creation date. For links of registered users, also the id of their creator and the visit count. For links that belong to a browser, instead of the id, a hash of the key in that browser, and the visit count.',
    settings:
      'The settings of a link are stored with it: title, tags, expiry date, destination after expiry and earlier destinations.',
    more: ({ privacy }: Links) => (
      <>The {privacy('privacy policies')} explain why, for how long, and what else is counted.</>
    ),
  },
  keeping: {
    title: 'Retention and deletion',
    links:
      'Links and accounts are stored until they are removed. You can remove a link yourself. It stops working within seconds. You can restore it, with its views, for 30 days. After that, its destinations, title, tags and counts are deleted permanently.',
    account: ({ settings }: Links) => (
      <>
        You can delete your account in its {settings('settings')}. All its links and their
        statistics are deleted with it, and nothing can be restored. You can download your links
        there first.
      </>
    ),
    contact: ({ contact }: Links) => (
      <>
        The code of a removed link is never reused. If you cannot remove a link or an account
        yourself, write to {contact}.
      </>
    ),
  },
  liability: {
    title: 'No warranty',
    text: 'Atajo is provided free of charge, as it is, without a guarantee that it is always available or free of errors. The pages that short links lead to belong to others. Atajo is not responsible for them or for what happens there.',
    rights: 'Nothing in these terms limits rights that cannot be waived by law.',
  },
  law: {
    title: 'Governing law',
    text: 'These terms are governed by Spanish law and by the law of the European Union. Consumers in the European Union can also bring actions before the courts of the place where they live.',
  },
  changes: {
    title: 'Changes to these terms',
    text: 'When these terms change, the date at the top changes. You can always have earlier links removed.',
  },
  contact: {
    title: 'Contact',
    text: ({ contact }: Links) => (
      <>Send questions and reports of links that break these rules to {contact}.</>
    ),
  },
};

export const privacy = {
  title: 'Privacy policies',
  description:
    'What data Atajo stores about links, visits and accounts, why, for how long, and how to have it deleted. No cookies, no stored IP addresses.',
  intro: 'What data Atajo stores, why, for how long, and how to have it deleted.',

  controller: {
    title: 'Controller',
    text: ({ contact }: Links) => (
      <>
        The operator of this site is the controller of the data described here. Contact: {contact}.
      </>
    ),
  },
  links: {
    title: 'Links',
    purpose:
      'The code, the destination and the creation date are stored because the short link cannot work without them. The owner is stored so that they can manage the link. All other data is what the owner adds to the link.',
    guests:
      'If you are not logged in, your browser generates a random key, stores it in local storage and sends it with each request about your links. Anyone who has the key owns these links. The server stores only the SHA-256 hash of the key, from which the key cannot be computed. After you log in, the pages offer to add these links to your account. If you accept, the key is deleted.',
    caution:
      'A URL, a title and tags can themselves contain personal data. Check them before you save them.',
    list: 'This is all the data that is stored about a link, each item with the names of its database fields:',
  },
  visits: {
    title: 'Visits to short links',
    counting:
      'Each visit to a short link is counted for the owner of the link: once in its hour, and once for each property listed below. Properties are never combined, so nobody can tell, for example, which browser a visitor from a certain country used. After it is counted, no record of the single visit is stored.',
    ipAddress:
      'No IP address is stored and no cookie is set. The country is looked up from the IP address during the request. The IP address itself stays in memory only, until the end of the day at most. The full User-Agent and the full referrer (the URL of the page that linked to the short link) are not stored either.',
    visitors:
      'To estimate the number of visitors per day, IP address and User-Agent are hashed with a random key of that day. Only a sketch for the estimate is stored, and the key is deleted when the day is over. After that, nobody can tell whether an IP address visited. Visitors are not recognized on another day.',
    journal:
      'Until a visit is counted, usually for less than a second, it waits in a journal file. The file is deleted once a new one has been started and all its visits have been counted. It contains:',
  },
  accounts: {
    title: 'Accounts',
    purpose:
      'Account data is stored so that you, and only you, can log in. The legal basis is the contract that you enter into by registering.',
    password:
      'When you log in, or confirm with your password what you change in the settings, it is sent to the server, encrypted in transit if the site is served over HTTPS. The server compares it with the hash and does not store it.',
  },
  reports: {
    title: 'Reports',
    text: 'A report is sent to the operator of this site and to nobody else. The owner of the link is not notified. Enter your email only if the operator may contact you. Apart from what you enter, nothing about you is stored, not even whether you were logged in.',
  },
  limits: {
    title: 'Abuse protection',
    text: 'Failed logins are counted for 15 minutes, to protect accounts against guessed passwords. Requests are counted per IP address for rate limiting, for a short time and in memory only.',
  },
  browser: {
    title: 'Cookies and local storage',
    text: 'Atajo sets no cookies. It stores the following in the local storage of your browser, on your device only:',
    cache:
      'The files of the pages are kept in the cache of your browser, so that they open without a connection.',
    qr: 'QR codes are created entirely in your browser. Their content and your logo are not sent anywhere. For a QR code of one of your own links, the page requests a second, shorter code of that link. The pages load nothing from other sites.',
  },
  service: {
    title: 'Technical data',
    text: 'The service also stores technical data, which is not about any person. Logs describe errors and contain no URLs, IP or email addresses, passwords, keys or tokens.',
  },
  keeping: {
    title: 'Retention',
    links:
      'Links and accounts are stored until they are removed. You can restore a removed link for 30 days. After that, its destinations, title, tags and counts are deleted permanently. Only its code is kept, so that it is never reused. An expired link is stored until it is removed.',
    reports:
      'Reports of a link are deleted 90 days after the operator has decided on them, and earlier if the link is deleted permanently.',
    account: ({ settings, contact }: Links) => (
      <>
        If you delete your account in its {settings('settings')}, it can no longer be used from that
        moment. Its links, including removed ones, stop working within seconds. They and their
        statistics are then deleted, followed by the rest of the account. For anything that you
        cannot delete yourself, write to {contact}.
      </>
    ),
  },
  sharing: {
    title: 'Sharing',
    text: 'This data is not sold, rented or shared for advertising. It is disclosed only where the law requires it. The site that a short link leads to receives the same data as from any visitor, and its owner is responsible for it.',
  },
  rights: {
    title: 'Your rights',
    gdpr: ({ settings, contact }: Links) => (
      <>
        Under the General Data Protection Regulation (GDPR) and Spanish law, you have the right to
        access, rectify, erase and port your data, to restrict its processing and to object to it.
        In the {settings('settings')} of your account, you can download your links as CSV or JSON
        and delete the account. For all other requests, write to {contact} from the email address of
        your account.
      </>
    ),
    authority:
      'You also have the right to lodge a complaint with a supervisory authority, in Spain the Agencia Española de Protección de Datos.',
  },
  changes: {
    title: 'Changes to these policies',
    text: ({ terms: link }: Links) => (
      <>
        When these policies change, the date at the top changes. The {link('terms of use')} apply as
        well.
      </>
    ),
  },
};

/** Descriptions of the data in stored.json. */
export const stored = {
  links: {
    code: 'The code. It is kept after the link is deleted, so that it is never reused.',
    scanCode: 'The second code for the QR codes of the link, if you created one, and its link.',
    destination: 'The destination.',
    owner:
      'The owner: the id of an account, or the SHA-256 hash of the key in a browser’s local storage. Empty for a link without an owner.',
    created: 'The creation date.',
    labels:
      'Title and tags, and a lowercase copy of them with code and destination for the search.',
    expiry: 'The expiry date and the destination after expiry.',
    domain: 'The host of the short URL, if you chose one.',
    history:
      'The original destination, earlier destinations and the times at which they were changed.',
    publicStatistics: 'Whether its statistics are public.',
    removed: 'When you removed it.',
    blocked:
      'Why the operator or a blocklist blocked it, the name of the blocklist, and whether the operator unblocked it.',
    decisions:
      "Decisions of the operator or an administrator on a link, on a host or path that links lead to, or on all links of an account: time, action, cause, number of reports, and the administrator's e-mail address. They are kept, with the code or the account's identifier only, after the link is deleted.",
    hosts: 'The hosts of its destinations, to find the link when a blocklist changes.',
    counts:
      'How many links you have in each state, how many people opened each of them, and their order by views, for two hours at most.',
    imports:
      'Of each import: its id, the id of your account, when it began, how many links it created, and how many of those you undid. Of each row: its number, what became of it, the code, a checksum that shows whether you changed the link, and whether you undid it. All of this is deleted after 30 days.',
    creations:
      'Of each request to the API that created links: a hash of its idempotency key, the id of your account, the time, a hash of the request, and the answer with the links as they were created. All of this is deleted after a day, and earlier if one of the links is deleted permanently.',
  },
  visits: {
    totals: 'How many people and bots opened the link since it was created, and on which days.',
    hours: 'How many people and bots opened it in each hour of a day.',
    referrer:
      'The referrer: only the host of the page that linked to it, such as news.example, or the Android app.',
    device: 'The type of device: desktop, phone, tablet or other.',
    browser: 'The browser, without its version.',
    system: 'The operating system, without its version.',
    language: 'The preferred language, such as es.',
    country: 'The country, as two letters.',
    source: 'Whether the visit came from the link or from its QR code.',
    visitors: 'The number of visitors of the day, as a sketch of at most 4 kB for an estimate.',
    unreadable:
      'Of these records, those that could not be read: they are set aside as they are, and deleted with the others of the link.',
    visitorKey:
      'The random key of the current day, the same for all links. It is deleted when the day is over.',
  },
  journal: {
    visit:
      'The code, the hour, whether it was a person or a bot, and the host of the referrer or the Android app.',
    properties:
      'For people: device, browser, operating system, language, country and source, as they are counted.',
    visitor: 'The hash of the visitor, computed with the key of the day.',
  },
  accounts: {
    id: 'A random id.',
    email: 'Your email address, as you entered it and in a normalized form for lookups.',
    username: 'Your username.',
    password: 'A bcrypt hash of your password, computed in your browser, and its salt.',
    created: 'When you registered.',
    sessions:
      'Of each session: a random id, when it began, when it ends, the hour of its last use, when you last sent your password or a passkey in it, and the names of its browser and operating system; at most 100. An ended session is deleted when you log in again. And how often sessions ended together, and whether you deleted the account.',
    role: 'Whether you are an administrator, and whether your account is suspended.',
    lastSeen: 'The hour in which you or one of your API keys last used your account.',
    invitations:
      'Of an invitation to register: a random id, a SHA-256 hash, from which it cannot be computed, the email address that it is for, whether it is for an administrator or for the first account, when it was created, and when it expires. All of this is deleted when it is used or revoked. An expired one is deleted with the next invitation.',
    decisions:
      'Decisions about accounts and invitations: a random id, time, action, the id of the account or invitation, its role, the email address of the administrator who decided, and a lowercase copy of this for the search. They are kept after an account is deleted, so that administrators can account for what they did.',
    apiKeys:
      'Of each of your API keys: a random id, its name, its first 12 characters, the SHA-256 hash of the key, from which the key cannot be computed, what it may do, when you created it, the session in which you did (its id, its beginning, and the names of its browser and operating system), when it expires, and the minute of its last use. All of this is deleted when you revoke the key.',
    recoveryCodes:
      'A scrypt hash of each of your recovery codes and when you created it, until you use it, create new ones or change your password. And a hash of a code that the operator created for you to set a new password, with the time when it expires.',
    passkeys:
      'Of each of your passkeys: its id, its name, its public key, the number of its signatures if your device counts them, when you added it, the session in which you did (its id, its beginning, and the names of its browser and operating system), and the minute of its last use. Fingerprints, faces and PINs never leave your device. All of this is deleted when you remove the passkey.',
    connections:
      'If you log in with an account of another provider: who that provider is, your id there, the email address that it named, when the connection was made, and the minute of its last use. All of this is deleted when you remove the connection. The provider learns that you log in here, and nothing of your links.',
  },
  reports: {
    counts:
      'For each reason that a link was reported for: a random id, the number of reports, and the time of the first and the last one.',
    decided: 'When the operator decided on it.',
    statements:
      'The details of the first five reports that had any, the email address if one was given, and the time.',
  },
  limits: {
    attempts:
      'The number of wrong passwords and recovery codes for an account, from an IP address, from a browser or in a session, for 15 minutes. Each is stored under a keyed hash, from which nobody can tell the account, the IP address, the browser or the session. And the random number of each use of a passkey, for seven minutes, so that nobody can repeat it.',
    importedRows:
      'How many rows your account imported on a day. It is deleted when the day is over.',
  },
  browser: {
    token: 'The token of your session, for four hours or until you log out.',
    endedSessions:
      'The token of a session that you logged out, until the server has ended it, at most four hours.',
    username:
      'Your username, and whether you are an administrator of this site, until you log out.',
    lastSession:
      'A few characters of your last token, or that your session has ended, so that the pages can tell you.',
    recoveryOffer: 'After a registration, that recovery codes were not offered to you yet.',
    guestKey:
      'The key of the links that you created without an account, their number, and whether you declined to add them to your account. The key is stored until the links are added to an account. If you clear the data of this site, the key is lost, and nobody can change or remove these links from a browser anymore.',
    device:
      'A signed token that shows that you logged in from this browser before. It is kept after you log out and is sent with logins only, so that failed logins of others do not lock you out. Clearing the data of this site deletes it.',
    import:
      'An import of links that is not finished, or was the last one: its number, your username, and in the browser’s database (IndexedDB) its rows and results. They are kept until you start another import or log out.',
    providerLogin:
      'While you log in with another provider: a random key of this login, the page to go on to, and the token of an invitation or of the session that is confirmed. It is deleted when you are back, or with the tab.',
    newApiKey:
      'An API key that you have just created, for the samples of the API documentation in the same tab, until you close the tab, log out or revoke the key.',
    styles: 'Saved styles of QR codes, until you delete them.',
    theme: 'The theme, if you chose one.',
    language: 'The language, if you chose one.',
    pendingLink:
      'A link that you shortened without a connection, until the server has answered or you log out.',
    campaignTags: 'The last campaign tags that you used, as suggestions for the next link.',
    reloaded:
      'In session storage, until you close the tab: that a page was reloaded because a new version was available.',
  },
  service: {
    changes:
      'The codes of changed links, for a day, and of visited links, for minutes, with times.',
    gateways:
      'Which servers have sent which visits, so that each visit is counted once, and how many visits each sent today and yesterday.',
    tasks: 'Which server runs a background task, its progress, and the version of the tables.',
  },
} satisfies Record<keyof typeof storedData, Record<string, string>>;
