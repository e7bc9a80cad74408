/** Returns a setting that the server writes into the document's <meta> tags when it starts. */
export function setting(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content.trim() ?? '';
}

/** Returns the origin of short URLs: the configured one, or else the page's own. */
export function publicUrl(): string {
  const configured = setting('atajo-public-url');
  return URL.canParse(configured) ? new URL(configured).origin : location.origin;
}

/** Returns the origins of short URLs: that of the public URL, then further ones. */
export function origins(): string[] {
  const further = setting('atajo-domains')
    .split(' ')
    .filter((origin) => URL.canParse(origin));
  return [publicUrl(), ...further.map((origin) => new URL(origin).origin)];
}

/** Whether accounts can choose the domain of a link. */
export function hasFurtherDomains(): boolean {
  return origins().length > 1;
}

/** Returns the domain of an origin: its host, with its port if it has one. */
export function domainOf(origin: string): string {
  return new URL(origin).host;
}

/** Returns the origin of a domain; that of the public URL if there is none with this domain. */
function originOf(domain: string | undefined): string {
  return origins().find((origin) => domainOf(origin) === domain) ?? publicUrl();
}

/** Returns the short URL as people read it: host and code. */
export function shortAddress(code: string, domain?: string): string {
  return `${domainOf(originOf(domain))}/${code}`;
}

/** Returns the short URL with its scheme, for a QR code or a link. */
export function shortUrl(code: string, domain?: string): string {
  return `${originOf(domain)}/${code}`;
}

/** Returns who may register: everybody, or those with an invitation, or nobody. */
export function registration(): 'open' | 'invite' | 'closed' {
  const configured = setting('atajo-registration');
  return configured === 'invite' || configured === 'closed' ? configured : 'open';
}

/** Whether links can be created without an account. */
export function hasGuestLinks(): boolean {
  return setting('atajo-guest-links') !== 'off';
}

/** Whether there is a page for administrators. */
export function hasAdminPages(): boolean {
  return setting('atajo-admin-pages') !== 'off';
}

/** Returns the operator's email address, '' if none is configured. */
export function contact(): string {
  return setting('atajo-contact');
}
