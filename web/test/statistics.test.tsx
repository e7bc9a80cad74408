/** Statistics of one link for its owner, public statistics, and statistics of all links. */
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Statistics } from '../src/api';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { changed, details, link, page } from './links';
import { answered, data, error, serve, type Reply } from './server';
import { days, told } from './statistics';

const CODE = 'fiesta-2026';
const FIESTA = link(CODE, 'https://ayuntamiento.example/otro.pdf', { views: 46, bots: 5 });
const PEOPLE = days([5, 0, 9, 30, 2], {
  breakdowns: {
    referrer: [
      { name: '', people: 30 },
      { name: 'news.example', people: 16 },
    ],
    country: [
      { name: 'ES', people: 40 },
      { name: '', people: 4 },
      { name: '*', people: 2 },
    ],
    language: [{ name: 'eu', people: 46 }],
    device: [{ name: 'phone', people: 46 }],
    source: [
      { name: 'link', people: 45 },
      { name: 'qr', people: 1 },
    ],
  },
});
const BEFORE = days([1, 2, 3, 4, 0]);
BEFORE.series.forEach((step, index) => {
  step.start = `2026-11-${String(13 + index)}T00:00:00+01:00`;
});

const statistics = () => screen.findByRole('region', { name: 'Statistics' });
const chart = () => screen.findByRole('slider', { name: /^People by/ });
const figure = (name: string) => screen.getByText(name, { selector: 'dt' }).parentElement;
const list = (name: string) => screen.getByRole('region', { name });

/**
 * Returns a handler with statistics of the requested period, and others for the previous period.
 */
function spans(now: Statistics = PEOPLE, before: Statistics = BEFORE) {
  return ({ range }: Record<string, unknown>): Reply =>
    told(typeof range === 'string' ? now : before);
}

async function open(
  showStatistics: Parameters<typeof serve>[0][string] = spans(),
  handlers: Parameters<typeof serve>[0] = {},
) {
  logIn();
  const calls = serve({ showLink: () => details(FIESTA), showStatistics, ...handlers });
  const { user } = visit(`/links/${CODE}`);
  await statistics();
  return { user, asked: () => calls.filter(({ name }) => name === 'showStatistics'), calls };
}

describe('the statistics of a link', () => {
  it('are of 30 days at first, compared with the previous period', async () => {
    const { asked } = await open();
    await screen.findByText(/^Dotted line/);
    expect(asked().map(({ payload }) => payload)).toEqual([
      { token: 'a-token', guest: null, code: CODE, range: '30 days', timezone: 'UTC' },
      {
        token: 'a-token',
        guest: null,
        code: CODE,
        range: { from: '2026-11-13', to: '2026-11-17' },
        timezone: 'UTC',
      },
    ]);
    expect(figure('People')).toHaveTextContent('46360% more than in the previous 30 days');
    expect(figure('Daily visitors')).toHaveTextContent('23360% more than');
    expect(figure('Bots (not included)')).toHaveTextContent('5150% more than');
    expect(await statistics()).toHaveTextContent('Dates are in Europe/Madrid');
    await expectNoAxeViolations();
  });

  it('show people by name, with shares', async () => {
    await open();
    await chart();
    const rows = (name: string) =>
      within(list(name))
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent);
    expect(rows('Referrers')).toEqual([
      'Direct or unknown 30 people 65%',
      'news.example 16 people 35%',
    ]);
    expect(rows('Countries')).toEqual([
      'Spain 40 people 87%',
      'Unknown 4 people 9%',
      'Other 2 people 4%',
    ]);
    expect(rows('Languages')).toEqual(['Basque 46 people 100%']);
    expect(rows('Devices')).toEqual(['Phone 46 people 100%']);
    expect(rows('Source')).toEqual(['Link 45 people 98%', 'QR code 1 person 2%']);
  });

  it('show the first of many names, and all of them on demand', async () => {
    const browser = Array.from({ length: 20 }, (_, index) => ({
      name: `Browser ${index}`,
      people: 20 - index,
    }));
    const { user } = await open(
      spans({ ...PEOPLE, breakdowns: { ...PEOPLE.breakdowns, browser } }),
    );
    await chart();
    expect(within(list('Browsers')).getAllByRole('listitem')).toHaveLength(6);
    await user.click(screen.getByRole('button', { name: 'Show all 20 of Browsers' }));
    expect(within(list('Browsers')).getAllByRole('listitem')).toHaveLength(20);
  });

  it('use the singular for one', async () => {
    const { user } = await open(spans(days([9, 2, 1])));
    const slider = await chart();
    act(() => slider.focus());
    await user.keyboard('{End}{ArrowLeft}');
    expect(slider).toHaveAttribute('aria-valuetext', expect.stringContaining('1 daily visitor,'));
    await user.keyboard('{End}');
    expect(slider).toHaveAttribute('aria-valuetext', expect.stringContaining('1 person, 0 daily'));
  });

  it('show the figures of each step by arrow keys, pointer and touch', async () => {
    const { user } = await open();
    await screen.findByText(/^Dotted line/);
    const slider = await chart();
    // The highest step.
    const peak = 'Sat 21 Nov 2026: 30 people, 15 daily visitors, 1 bot; 30 days earlier: 4 people';
    expect(slider).toHaveAttribute('aria-valuetext', peak);
    expect(slider).toHaveAttribute('aria-valuenow', '4');
    screen.getByText(peak, { selector: 'figcaption span' });
    act(() => slider.focus());
    await user.keyboard('{ArrowLeft}');
    expect(slider).toHaveAttribute('aria-valuetext', expect.stringMatching(/^Fri 20 Nov 2026: 9 /));
    await user.keyboard('{Home}{ArrowLeft}');
    expect(slider).toHaveAttribute('aria-valuenow', '1');
    await user.keyboard('{End}{ArrowRight}');
    expect(slider).toHaveAttribute('aria-valuenow', '5');
    vi.spyOn(slider, 'getBoundingClientRect').mockReturnValue(new DOMRect(100, 0, 640, 300));
    fireEvent(slider, pointer('pointermove', 'mouse', 101));
    expect(slider).toHaveAttribute('aria-valuenow', '1');
    fireEvent(slider, pointer('pointerout', 'mouse', 101));
    expect(slider).toHaveAttribute('aria-valuenow', '5');
    fireEvent(slider, pointer('pointerdown', 'touch', 400));
    expect(slider).toHaveAttribute('aria-valuenow', '3');
    fireEvent(slider, pointer('pointerout', 'touch', 400));
    expect(slider).toHaveAttribute('aria-valuenow', '3');
  });

  it('show the figures of the chart as a table', async () => {
    const { user } = await open();
    await screen.findByText(/^Dotted line/);
    expect(screen.queryByRole('table')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Show as a table' }));
    const rows = within(screen.getByRole('table', { name: 'People by day' })).getAllByRole('row');
    expect(rows.map((row) => Array.from(row.children, (cell) => cell.textContent))).toEqual([
      ['Day', 'People', 'Daily visitors', 'Bots', 'People in the previous 30 days'],
      ['Wed 18 Nov 2026', '5', '2', '1', '1'],
      ['Thu 19 Nov 2026', '0', '0', '1', '2'],
      ['Fri 20 Nov 2026', '9', '4', '1', '3'],
      ['Sat 21 Nov 2026', '30', '15', '1', '4'],
      ['Sun 22 Nov 2026', '2', '1', '1', '0'],
    ]);
    await expectNoAxeViolations();
  });

  it('are of the selected period, or of custom dates, which are validated', async () => {
    const { user, asked } = await open();
    await chart();
    await user.click(screen.getByRole('radio', { name: '7 days' }));
    await waitFor(() =>
      expect(asked().some(({ payload }) => payload['range'] === '7 days')).toBe(true),
    );
    expect(location.search).toBe('?range=7+days');
    await user.click(screen.getByRole('radio', { name: 'Dates' }));
    const first = screen.getByLabelText('First day');
    const last = screen.getByLabelText('Last day');
    const show = screen.getByRole('button', { name: 'Show' });
    await expectNoAxeViolations();
    const enter = async (from: string, to: string) => {
      fireEvent.change(first, { target: { value: from } });
      fireEvent.change(last, { target: { value: to } });
      await user.click(show);
    };
    await enter('2026-11-02', '2026-11-01');
    expect(first).toHaveAccessibleDescription('The last day must not be before the first day.');
    await enter('', '2026-11-01');
    expect(first).toHaveAccessibleDescription('Enter two dates.');
    await enter('2016-01-01', '2026-11-01');
    expect(first).toHaveAccessibleDescription('Choose at most 3,653 days.');
    const calls = asked().length;
    await enter('2026-11-01', '2026-11-02');
    expect(first).not.toBeInvalid();
    await waitFor(() => expect(asked().length).toBeGreaterThan(calls));
    expect(asked()[calls]?.payload['range']).toEqual({ from: '2026-11-01', to: '2026-11-02' });
    expect(location.search).toBe('?from=2026-11-01&to=2026-11-02');
  });

  it('are by hour, compared with the same hours of the previous day', async () => {
    const hours = (day: string, people: number[]): Statistics['series'] =>
      people.map((count, hour) => ({
        start: `${day}T${String(hour + 10)}:00:00+05:30`,
        people: count,
        bots: 0,
        visitors: null,
      }));
    const range = { ...PEOPLE.range, step: 'hour' as const, timezone: 'Asia/Kolkata' };
    logIn();
    serve({
      showLink: () => details(FIESTA),
      showStatistics: spans(
        { ...PEOPLE, range, series: hours('2026-11-22', [7, 1]) },
        // The previous day has hours that the previous period does not have.
        { ...PEOPLE, range, series: hours('2026-11-21', [3, 4, 5, 6]) },
      ),
    });
    visit(`/links/${CODE}?range=24+hours`);
    await screen.findByText(
      'Sun 22 Nov 2026, 10:00: 7 people, 0 bots; 24 hours earlier: 3 people',
      {
        selector: 'figcaption span',
      },
    );
    screen.getByText(/The offset of this time zone from UTC is not a whole number of hours/);
  });

  describe('by hour, when clocks go back,', () => {
    const hours = (day: string, people: Record<string, number>): Statistics => ({
      ...PEOPLE,
      range: { ...PEOPLE.range, step: 'hour' },
      series: Object.entries(people).map(([time, count]) => ({
        start: `${day}T${time}`,
        people: count,
        bots: 0,
        visitors: null,
      })),
    });
    const plain = (day: string) =>
      hours(day, { '01:00:00+01:00': 10, '02:00:00+01:00': 20, '03:00:00+01:00': 30 });
    const longer = hours('2026-10-25', {
      '01:00:00+02:00': 1,
      '02:00:00+02:00': 2,
      '02:00:00+01:00': 4,
      '03:00:00+01:00': 8,
    });

    /** Returns name, people and previous people of each row of the table. */
    async function rowsOf(...told: [Statistics, Statistics]) {
      logIn();
      serve({ showLink: () => details(FIESTA), showStatistics: spans(...told) });
      const { user } = visit(`/links/${CODE}?range=24+hours`);
      await user.click(await screen.findByRole('button', { name: 'Show as a table' }));
      await waitFor(() => expect(screen.getAllByRole('columnheader')).toHaveLength(4));
      return screen
        .getAllByRole('row')
        .slice(1)
        .map((row) => {
          const [name, people, , before] = Array.from(row.children, (cell) => cell.textContent);
          return [name, people, before];
        });
    }

    it('name the hour that occurs twice, and compare one of the two', async () => {
      expect(await rowsOf(longer, plain('2026-10-24'))).toEqual([
        ['Sun 25 Oct 2026, 01:00', '1', '10'],
        ['Sun 25 Oct 2026, 02:00 (UTC+02:00)', '2', '20'],
        ['Sun 25 Oct 2026, 02:00 (UTC+01:00)', '4', '–'],
        ['Sun 25 Oct 2026, 03:00', '8', '30'],
      ]);
    });

    it('omit no hour of the previous period', async () => {
      expect(await rowsOf(plain('2026-10-26'), longer)).toEqual([
        ['Mon 26 Oct 2026, 01:00', '10', '1'],
        ['Mon 26 Oct 2026, 02:00', '20', '6'],
        ['Mon 26 Oct 2026, 03:00', '30', '8'],
      ]);
    });
  });

  it('are in UTC if the server does not know the time zone', async () => {
    let tries = 0;
    await open(() => {
      tries += 1;
      return tries === 1
        ? {
            status: 400,
            body: {
              error: {
                status: 'INVALID_ARGUMENT',
                message: 'x',
                details: { reason: 'INVALID_TIMEZONE' },
              },
            },
          }
        : told(PEOPLE);
    });
    await chart();
  });

  it('say that there were no visits', async () => {
    await open(
      spans(days([0, 0], { totals: { people: 0, bots: 0, visitors: 0 }, previous: null })),
    );
    await screen.findByText('No visits in this period.');
    expect(screen.queryByRole('slider')).toBeNull();
    expect(figure('People')).toHaveTextContent(/^People0$/);
  });

  it('say that they did not load, and can be requested again', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let down = true;
    const { user } = await open(() => (down ? error(503, 'UNAVAILABLE') : told(PEOPLE)));
    await screen.findByText('The statistics did not load.');
    await expectNoAxeViolations();
    down = false;
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await chart();
  });

  it("are refetched only while the page has the user's attention", async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const focus = vi.spyOn(document, 'hasFocus').mockReturnValue(true);
    let people = 46;
    const { asked } = await open((payload) =>
      spans({ ...PEOPLE, totals: { ...PEOPLE.totals, people } })(payload),
    );
    await waitFor(() => expect(figure('People')).toHaveTextContent(/^People46/));
    people = 47;
    await act(() => vi.advanceTimersByTimeAsync(5_000));
    await answered();
    expect(figure('People')).toHaveTextContent(/^People47/);
    focus.mockReturnValue(false);
    act(() => void dispatchEvent(new Event('blur')));
    const calls = asked().length;
    await act(() => vi.advanceTimersByTimeAsync(60_000));
    expect(asked()).toHaveLength(calls);
  });

  it('stay on the page with a message if newer ones do not load, and are then requested less often', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    vi.spyOn(document, 'hasFocus').mockReturnValue(true);
    let down = false;
    const { asked } = await open((payload) =>
      down ? error(503, 'UNAVAILABLE') : spans()(payload),
    );
    await chart();
    down = true;
    await act(() => vi.advanceTimersByTimeAsync(3_000));
    await screen.findByText('These figures may be out of date: the latest ones did not load.');
    await chart();
    const calls = asked().length;
    await act(() => vi.advanceTimersByTimeAsync(20_000));
    expect(asked()).toHaveLength(calls);
  });

  /** Returns the bytes of the CSV file, once the previous period and this text are on the page. */
  async function downloaded(showStatistics: ReturnType<typeof spans>, text = 'Referrers') {
    const create = vi.fn<(blob: Blob) => string>(() => 'blob:x');
    Object.assign(URL, { createObjectURL: create, revokeObjectURL: () => undefined });
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
    const { user } = await open(showStatistics);
    await screen.findByText(/^Dotted line/);
    await screen.findByText(text);
    await user.click(screen.getByRole('button', { name: 'CSV' }));
    return bytesOf(create.mock.calls[0]?.[0] as Blob);
  }

  const linesOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes).split('\r\n');

  it('name apps, and hosts in Unicode with their Punycode', async () => {
    const names = [
      'xn--mnchen-3ya.example',
      'xn--80ak6aa92e.com',
      'xn--a_b!.example',
      'android-app://com.google.android.gm',
      'android-app://org.nobody.app',
      'news.example',
    ];
    const shown = [
      'münchen.example (xn--mnchen-3ya.example)',
      'аррӏе.com (xn--80ak6aa92e.com)',
      'xn--a_b!.example',
      'Gmail (Android)',
      'org.nobody.app (Android)',
      'news.example',
    ];
    const referrer = names.map((name) => ({ name, people: 1 }));
    const named = spans({ ...PEOPLE, breakdowns: { ...PEOPLE.breakdowns, referrer } });
    const bytes = await downloaded(named, 'Gmail (Android)');
    for (const name of shown) {
      expect(within(list('Referrers')).getByText(name)).toBeVisible();
      expect(linesOf(bytes)).toContain(`Referrers,${name},1,,,`);
    }
  });

  it('are saved in a file without formulas for spreadsheets', async () => {
    const hostile = '=HYPERLINK("https://bad.example","x")';
    const referrer = [{ name: hostile, people: 46 }];
    const bytes = await downloaded(
      spans({ ...PEOPLE, breakdowns: { ...PEOPLE.breakdowns, referrer } }),
    );
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const lines = linesOf(bytes);
    expect(lines[0]).toBe('kind,name,people,daily visitors,bots,people in previous period');
    expect(lines).toContain('total,2026-11-18 to 2026-11-22,46,23,5,10');
    expect(lines).toContain('day,2026-11-21T00:00:00+01:00,30,15,1,4');
    expect(lines).toContain('Countries,Spain,40,,,');
    expect(lines).toContain(`Referrers,"'=HYPERLINK(""https://bad.example"",""x"")",46,,,`);
  });
});

describe('public statistics', () => {
  const notTheirs = { showLink: () => data({ success: false, error: 'no exist' }) };

  it('are all that others can see of a link', async () => {
    logIn();
    const calls = serve({ ...notTheirs, showStatistics: spans() }, 'showStatistics');
    visit(`/links/${CODE}`);
    await heading(`localhost:3000/${CODE}`);
    await chart();
    expect(calls[0]?.payload).toMatchObject({ token: null, guest: null, code: CODE });
    const main = screen.getByRole('main');
    expect(main).not.toHaveTextContent('Destination');
    expect(within(main).queryByRole('button', { name: /Remove|Change|Copy/ })).toBeNull();
    expect(within(main).queryByRole('checkbox')).toBeNull();
    await expectNoAxeViolations();
  });

  it('are not found if they are not public', async () => {
    const calls = serve({
      showStatistics: () => data({ success: false, error: 'no logged' }),
    });
    visit('/links/private-1');
    await heading('PAGE NOT FOUND');
    expect(calls).toHaveLength(1);
  });

  it('redirect to the login page if they are not public and the session has ended', async () => {
    logIn('old', -1);
    serve({ showStatistics: () => data({ success: false, error: 'no logged' }) });
    visit('/links/private-1');
    await heading('Log in');
  });

  it('are made public and private by the owner, who gets their URL', async () => {
    let now = FIESTA;
    const { user, calls } = await open(spans(), {
      showLink: () => details(now),
      changeLink: ({ changes }) => changed((now = { ...now, ...(changes as object) })),
    });
    const box = screen.getByRole('checkbox', { name: 'Make these statistics public' });
    expect(box).not.toBeChecked();
    await user.click(box);
    await user.click(await screen.findByRole('button', { name: 'Copy the URL of the statistics' }));
    expect(await navigator.clipboard.readText()).toBe(`http://localhost:3000/links/${CODE}`);
    await expectNoAxeViolations();
    await user.click(box);
    await waitFor(() => expect(box).not.toBeChecked());
    expect(
      calls.filter(({ name }) => name === 'changeLink').map(({ payload }) => payload['changes']),
    ).toEqual([{ public_statistics: true }, { public_statistics: false }]);
  });

  it('are unchanged if the server refuses', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await open(spans(), { changeLink: () => error(503, 'UNAVAILABLE') });
    const box = screen.getByRole('checkbox', { name: 'Make these statistics public' });
    await user.click(box);
    await screen.findByText('Your change was not saved. Please try again.');
    expect(box).not.toBeChecked();
  });
});

describe('the statistics of all links', () => {
  const ALL = { ...PEOPLE, top: [{ code: CODE, people: 40 }] };

  it('are in one line above the list, and complete on demand', async () => {
    logIn();
    const calls = serve(
      { showLinks: () => page([FIESTA]), showStatistics: spans(ALL) },
      'showStatistics',
    );
    const { user } = visit('/my-account');
    const all = within(await screen.findByRole('region', { name: 'All links' }));
    await all.findByText('46 people');
    expect(all.getByText(/23 daily visitors, 5 bots/)).toBeInTheDocument();
    expect(calls.map(({ payload }) => payload['code'])).toContain(null);
    await user.click(screen.getByRole('button', { name: 'Statistics of all links' }));
    await chart();
    expect(
      within(list('Most visited')).getByRole('link', { name: `localhost:3000/${CODE}` }),
    ).toHaveAttribute('href', `/links/${CODE}`);
    await expectNoAxeViolations();
  });

  it('are a chart in each row, which loads with the list', async () => {
    logIn();
    const days = [...Array<number>(28).fill(0), 3, 2];
    const calls = serve({
      showLinks: () =>
        page([
          link('visited-', 'https://example.org/', { views: 5, recent: days }),
          link('unknown-', 'https://example.org/', { views: null, recent: null }),
        ]),
      showStatistics: () => told(ALL),
      changeLink: () => changed(link('visited-', 'https://example.org/', { views: 5 })),
    });
    visit('/my-account');
    const bars = (name: RegExp) =>
      screen.getByRole('link', { name }).querySelector('svg path[d*=V]')?.getAttribute('d') ?? '';
    await screen.findByRole('link', { name: /^5 views of/ });
    expect(bars(/^5 views of/).match(/M/g)).toHaveLength(2);
    expect(bars(/^views unknown of/)).toBe('');
    const of = (name: string) => calls.filter((call) => call.name === name);
    expect(of('showLinks').map(({ payload }) => payload['recent'])).toEqual([true]);
    expect(of('showStatistics').map(({ payload }) => payload['code'])).toEqual([null]);
  });

  it('stay in the row of a changed link', async () => {
    logIn();
    const days = [...Array<number>(28).fill(0), 3, 2];
    const before = link('visited-', 'https://example.org/', { views: 5, recent: days });
    serve({
      showLinks: () => page([before]),
      showStatistics: () => told(ALL),
      changeLink: () =>
        changed(link('visited-', 'https://example.org/', { views: 5, tags: ['a'] })),
    });
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('checkbox', { name: /^Select .*visited-/ }));
    await user.click(screen.getByRole('button', { name: 'Tag' }));
    await user.type(screen.getByRole('textbox', { name: /Tag/ }), 'a');
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: /Tag|Add/ }));
    await screen.findByRole('list', { name: 'Tags' });
    const bars = screen.getByRole('link', { name: /^5 views of/ }).querySelector('svg path');
    expect(bars?.getAttribute('d')?.match(/M/g)).toHaveLength(2);
  });

  it('do not affect the list if they fail', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    const calls = serve(
      {
        showLinks: () => page([FIESTA, link('other-one', 'https://x.example/', { views: 3 })]),
        showStatistics: () => error(503, 'UNAVAILABLE'),
      },
      'showStatistics',
    );
    visit('/my-account');
    await screen.findByRole('link', { name: /^46 views of/ });
    await screen.findByText('The statistics did not load.');
    await answered();
    expect(calls).toHaveLength(1);
  });
});

/** Returns a pointer event. The events of jsdom have no position. */
function pointer(type: string, pointerType: string, clientX: number): Event {
  return new PointerEvent(type, { pointerType, clientX, bubbles: true });
}

function bytesOf(file: Blob): Promise<Uint8Array> {
  const reader = new FileReader();
  return new Promise((resolve) => {
    reader.onload = () => resolve(new Uint8Array(reader.result as ArrayBuffer));
    reader.readAsArrayBuffer(file);
  });
}
