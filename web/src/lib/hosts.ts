import { toUnicode } from 'punycode.js';

/** Returns a host in Unicode, or null if that is the same text or the Punycode is invalid. */
export function readable(host: string): string | null {
  try {
    const shown = toUnicode(host);
    return shown === host ? null : shown;
  } catch {
    return null;
  }
}

const APP = 'android-app://';
/** Names of apps by their Android package. */
const apps: Record<string, string> = {
  'com.Slack': 'Slack',
  'com.discord': 'Discord',
  'com.facebook.katana': 'Facebook',
  'com.facebook.orca': 'Messenger',
  'com.google.android.apps.messaging': 'Google Messages',
  'com.google.android.gm': 'Gmail',
  'com.google.android.googlequicksearchbox': 'Google',
  'com.google.android.youtube': 'YouTube',
  'com.instagram.android': 'Instagram',
  'com.linkedin.android': 'LinkedIn',
  'com.microsoft.office.outlook': 'Outlook',
  'com.microsoft.teams': 'Microsoft Teams',
  'com.pinterest': 'Pinterest',
  'com.reddit.frontpage': 'Reddit',
  'com.twitter.android': 'X',
  'com.whatsapp': 'WhatsApp',
  'org.telegram.messenger': 'Telegram',
};

interface Referred {
  breakdowns: { referrer: { name: string }[] };
}

/** Returns statistics with readable names of their referrers. */
export function nameReferrers<S extends Referred>(statistics: S): S {
  const { breakdowns } = statistics;
  const referrer = breakdowns.referrer.map((row) => ({ ...row, name: nameReferrer(row.name) }));
  return { ...statistics, breakdowns: { ...breakdowns, referrer } };
}

/**
 * Returns the readable name of a referrer: the host of a page, or an Android app.
 *
 * A host in Unicode is followed by its Punycode, because its letters may look like those of another
 * host.
 */
function nameReferrer(name: string): string {
  if (name.startsWith(APP)) {
    const app = name.slice(APP.length);
    return `${apps[app] ?? app} (Android)`;
  }
  const shown = readable(name);
  return shown === null ? name : `${shown} (${name})`;
}
