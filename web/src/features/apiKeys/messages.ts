/** Texts of the section 'API keys' on the settings page. */
import type { Scope } from '../../api';
import { plural } from '../../lib/format';

export const messages = {
  title: 'API keys',
  hint: 'With a key, your own programs and scripts can use your links through the API.',
  documentation: 'API documentation',
  loading: 'Loading your API keys',
  loadFailed: 'Your API keys could not be loaded.',
  none: 'You have no API keys.',
  full: (max: number) =>
    `You have ${max} keys, which is the maximum. Revoke one before you create another.`,
  list: 'Your API keys',
  failed: 'Something went wrong. Please try again.',
  tooMany: (when: string) => `Too many attempts. Please try again ${when}.`,
};

export const form = {
  title: 'Create a key',
  name: 'Name',
  nameHint: 'For example the program that uses it. 1–50 characters.',
  noName: 'Please enter a name of at most 50 characters',
  scopes: 'Permissions',
  noScopes: 'Please select at least one permission',
  expiry: 'Expires',
  lifetimes: {
    never: 'Never',
    week: 'In 7 days',
    month: 'In 30 days',
    quarter: 'In 90 days',
    year: 'In 1 year',
  },
  password: 'Password',
  noPassword: 'Please enter your password',
  incorrect: 'Incorrect password',
  confirm: 'Your login was too long ago. Please confirm it first.',
  create: 'Create key',
};

export const scopeTexts: Record<Scope, string> = {
  'links:read': 'List your links and read their details.',
  'links:write': 'Create, change, remove and restore links.',
  'statistics:read': 'Read the statistics of your links.',
};

export const created = {
  title: (name: string) => `Your new key “${name}”`,
  once: 'Copy it now and keep it as safe as a password. It is shown only this once.',
  done: 'Done',
};

export const item = {
  createdOn: (day: string | null) => `Created ${day}`,
  expires: (day: string | null) => `Expires ${day}`,
  expired: (day: string | null) => `Expired ${day}`,
  noExpiry: 'No expiry date',
  lastUsed: (time: string) => `Last used ${time}`,
  neverUsed: 'Never used',
  revoke: 'Revoke',
  revokeKey: (name: string) => `Revoke ${name}`,
};

export const revoking = {
  question: (name: string) => `Revoke the key “${name}”?`,
  warning: 'Programs that use this key stop working within seconds. This cannot be undone.',
  done: (name: string, left: number) =>
    `The key “${name}” was revoked. You have ${left} ${plural(left, 'key', 'keys')} left.`,
};
