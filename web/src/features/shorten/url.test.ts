// @vitest-environment node
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { messages } from './messages';
import { checkUrl } from './url';

interface Case {
  name: string;
  input: string;
  stored: string | null;
  home: string | null;
  elsewhere: string | null;
  public_url?: string;
  further?: string[];
}

// Read at run time: it contains lone surrogates, which a bundler's JSON loader refuses.
const table = JSON.parse(
  readFileSync(new URL('../../../../tests/links/url_cases.json', import.meta.url), 'utf8'),
) as { public_url: string; cases: Case[] };

describe('the rules of URLs', () => {
  it.each(table.cases)('$name', ({ input, stored, home, elsewhere, public_url, further }) => {
    const origins = [public_url ?? table.public_url, ...(further ?? [])];
    const onHome = checkUrl(input, { origins, wantsScheme: true });
    const onOther = checkUrl(input, { origins, wantsScheme: false });

    expect(onHome.ok ? null : messages[onHome.problem]).toBe(home);
    expect(onOther.ok ? null : messages[onOther.problem]).toBe(elsewhere);
    expect(onOther.ok ? onOther.stored : null).toBe(stored);
  });
});
