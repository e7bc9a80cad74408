/** Returns a setting that the server writes into the document's <meta> tags when it starts. */
export function setting(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content.trim() ?? '';
}

/** Returns the origin of short URLs: the configured one, or else the page's own. */
export function publicUrl(): string {
  const configured = setting('atajo-public-url');
  return URL.canParse(configured) ? new URL(configured).origin : location.origin;
}

/** Returns the short URL as people read and copy it: host and code. */
export function shortAddress(code: string): string {
  return `${new URL(publicUrl()).host}/${code}`;
}

/** Returns the short URL with its scheme, for a QR code or a link. */
export function shortUrl(code: string): string {
  return `${publicUrl()}/${code}`;
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
