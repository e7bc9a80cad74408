/** What the server writes into the document's <meta> tags when it starts. */
function setting(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content.trim() ?? '';
}

/** The address short links are handed out under; the page's own where none is configured. */
export function publicUrl(): string {
  const configured = setting('atajo-public-url');
  return URL.canParse(configured) ? new URL(configured).origin : location.origin;
}

/** The short address as people read and copy it: host and code. */
export function shortAddress(code: string): string {
  return `${new URL(publicUrl()).host}/${code}`;
}

/** The same with its scheme, for a QR code or a link. */
export function shortUrl(code: string): string {
  return `${publicUrl()}/${code}`;
}

/** The operator's e-mail address; empty where none is configured. */
export function contact(): string {
  return setting('atajo-contact');
}
