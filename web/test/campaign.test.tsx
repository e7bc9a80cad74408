/** Campaign tags of a new link. */
import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { noValues, withTags } from '../src/features/shorten/campaign';
import { expectNoAxeViolations, visit } from './app';
import { data, serve } from './server';

describe('the tags in a URL', () => {
  const values = { ...noValues, source: 'news letter', campaign: 'a&b=c#d' };

  it.each([
    ['https://a.example', 'https://a.example?'],
    ['https://a.example/', 'https://a.example/?'],
    ['https://a.example/?', 'https://a.example/?'],
    ['https://a.example/?b=1&c', 'https://a.example/?b=1&c&'],
    ['https://a.example/?b=%20+', 'https://a.example/?b=%20+&'],
    ['https://a.example/?utm_source=old&b', 'https://a.example/?b&'],
    ['https://a.example/?utm_source=1&utm%5Fsource=2&utm_campaign', 'https://a.example/?'],
    ['https://a.example/?utm_medium=kept', 'https://a.example/?utm_medium=kept&'],
    ['https://a.example/?UTM_SOURCE=kept', 'https://a.example/?UTM_SOURCE=kept&'],
    ['a.example/path', 'a.example/path?'],
  ])('of %s are put into its query', (url, start) => {
    const tagged = `${start}utm_source=news%20letter&utm_campaign=a%26b%3Dc%23d`;
    expect(withTags(url, values)).toBe(tagged);
    expect(withTags(`${url}#top?x=1`, values)).toBe(`${tagged}#top?x=1`);
    expect(withTags(tagged, values)).toBe(tagged);
  });

  it('may have any text', () => {
    const url = withTags('https://a.example/??utm_term=kept', { ...noValues, term: 'ñ\ud83d' });
    expect(url).toBe('https://a.example/??utm_term=kept&utm_term=%C3%B1%EF%BF%BD');
  });

  it('change nothing without values', () => {
    const url = 'https://a.example/?utm_source=old&&x=%zz#a';
    expect(withTags(url, { ...noValues, term: '  ' })).toBe(url);
  });
});

describe('the form', () => {
  const link = () => screen.getByRole('textbox', { name: 'Link to shorten' });
  const open = async () => {
    const calls = serve({
      createShortLink: ({ code }) => data({ success: true, code, short_link: code }),
    });
    const { user } = visit('/short-link');
    await user.click(await screen.findByText('Customize'));
    const group = within(await screen.findByRole('group', { name: 'Campaign tags' }));
    return { user, calls, group };
  };

  it('shows the link with its tags, shortens it, and suggests the values later', async () => {
    const { user, calls, group } = await open();
    await user.type(link(), 'https://example.com/?a=1#top');
    await user.type(group.getByLabelText('Source'), 'newsletter');
    const tagged = 'https://example.com/?a=1&utm_source=newsletter#top';
    expect(group.getByRole('status')).toHaveTextContent(tagged);
    await expectNoAxeViolations();
    await user.type(group.getByLabelText('Source'), '{Enter}');
    await screen.findByRole('list', { name: 'New short links' });
    const [call] = calls.filter(({ name }) => name === 'createShortLink');
    expect(call?.payload['url']).toBe(tagged);
    expect(group.getByLabelText('Source')).toHaveValue('');
    expect(group.queryByRole('status')).toBeNull();
    const suggested = group.getByLabelText<HTMLInputElement>('Source').list?.options ?? [];
    expect(Array.from(suggested, ({ value }) => value)).toEqual(['newsletter']);
    expect(JSON.parse(localStorage.getItem('campaignTags') ?? '')).toMatchObject({
      source: ['newsletter'],
      medium: [],
    });
  });

  it.each(['{', '[]', '1', 'null', '{"source":"x","medium":[1]}', '{"source":["a","b"]}'])(
    'opens although %s is stored',
    async (kept) => {
      localStorage.setItem('campaignTags', kept);
      const { group } = await open();
      const options = group.getByLabelText<HTMLInputElement>('Source').list?.options ?? [];
      const isValid = kept.includes('["a","b"]');
      expect(Array.from(options, ({ value }) => value)).toEqual(isValid ? ['a', 'b'] : []);
    },
  );
});
