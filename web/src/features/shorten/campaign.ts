/** Campaign tags: query fields that tell web analytics where a visitor came from. */
import * as v from 'valibot';
import { keepItem, readItem } from '../../lib/storage';

/** The fields, in the order of the form. */
export const campaignTags = ['source', 'medium', 'campaign', 'term', 'content'] as const;
export type CampaignTag = (typeof campaignTags)[number];
/** Values by tag, '' for none. */
export type CampaignValues = Record<CampaignTag, string>;

export const noValues: CampaignValues = {
  source: '',
  medium: '',
  campaign: '',
  term: '',
  content: '',
};

/**
 * Returns a URL with the tags that have a value in its query, before its fragment.
 *
 * A tag that the URL has already is replaced. Everything else stays as it was typed.
 */
export function withTags(url: string, values: CampaignValues): string {
  const given = campaignTags.filter((tag) => values[tag].trim() !== '');
  if (given.length === 0) return url;
  const [, address = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !given.some((tag) => nameOf(pair) === `utm_${tag}`));
  const added = given.map((tag) => `utm_${tag}=${encode(values[tag].trim())}`);
  return `${address}?${[...kept, ...added].join('&')}${fragment}`;
}

/** Returns the decoded name of a field of a query. */
function nameOf(pair: string): string {
  // A question mark at the beginning would be ignored.
  const [name] = new URLSearchParams(`&${pair}`).keys();
  return name ?? '';
}

/** Percent-encodes text in UTF-8, which has no lone surrogates. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

const KEY = 'campaignTags';
/** Maximum number of suggested values of a tag. */
const MAX_USED = 5;

const usedValues = v.fallback(v.array(v.string()), []);
const stored = v.object({
  source: usedValues,
  medium: usedValues,
  campaign: usedValues,
  term: usedValues,
  content: usedValues,
});
type Used = v.InferOutput<typeof stored>;

/** Returns the values used in this browser, the last one first. */
export function usedTags(): Used {
  return v.parse(stored, { ...nothingUsed(), ...object(readItem(KEY)) });
}

/** Stores values that were used. Without storage, nothing is suggested. */
export function keepTags(values: CampaignValues): void {
  const used = usedTags();
  for (const tag of campaignTags) {
    const value = values[tag].trim();
    if (value === '') continue;
    used[tag] = [value, ...used[tag].filter((other) => other !== value)].slice(0, MAX_USED);
  }
  keepItem(KEY, JSON.stringify(used));
}

function nothingUsed(): Used {
  return { source: [], medium: [], campaign: [], term: [], content: [] };
}

function object(text: string | null): object {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // Not valid JSON. The next use overwrites it.
  }
}
