/** The forms of contents and the lists, as users fill them in. */
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { BatchJob, Message, Order } from '../src/features/qr/batch/batch.worker';
import { LAST_DAY } from '../src/features/qr/contents/event';
import { choices } from '../src/features/qr/contents/kinds';
import { expectNoAxeViolations, heading, toasts, visit } from './app';

/** Workers of lists. The worker of the decoder does not respond here. */
const workers = new Set<FakeWorker>();
let saved: string[];

class FakeWorker extends EventTarget {
  job: BatchJob | undefined;
  postMessage(order: Order) {
    if (order === 'load' || !('rows' in order)) return;
    this.job = order;
    workers.add(this);
  }
  terminate() {
    workers.delete(this);
  }
  say(data: Message) {
    act(() => void this.dispatchEvent(new MessageEvent('message', { data })));
  }
}

beforeEach(() => {
  workers.clear();
  saved = [];
  vi.stubGlobal('Worker', FakeWorker);
  vi.spyOn(console, 'warn').mockReturnValue();
  URL.createObjectURL = () => 'blob:here';
  URL.revokeObjectURL = () => undefined;
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push(this.download);
  });
});

async function open() {
  const { user } = visit('/custom-qr-generator');
  await heading('CUSTOM QR CODE GENERATOR');
  await user.click(screen.getByRole('button', { name: 'More options' }));
  await screen.findByRole('heading', { name: 'Content' });
  return user;
}
const url = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'URL' });
const kind = (name: string) => screen.getByRole('radio', { name });

describe('a form', () => {
  it('shows errors when a field loses the focus, and writes the text once complete', async () => {
    const user = await open();
    await user.click(kind('Wi-Fi'));
    expect(screen.queryByText('Enter the network name')).toBeNull();
    await user.click(screen.getByLabelText('Network name'));
    await user.tab();
    expect(screen.getByLabelText('Network name')).toHaveAccessibleDescription(
      'Enter the network name',
    );
    expect(screen.getByLabelText('Network name')).toBeInvalid();
    await user.type(screen.getByLabelText('Network name'), 'Refugio');
    expect(screen.getByLabelText('Network name')).toBeValid();
    expect(url()).toHaveValue('');
    await user.type(screen.getByLabelText('Password'), 'camino123');
    expect(url()).toHaveValue('WIFI:T:WPA;S:Refugio;P:camino123;;');
    await user.click(kind('No password'));
    expect(screen.queryByLabelText('Password')).toBeNull();
    expect(url()).toHaveValue('WIFI:T:nopass;S:Refugio;;');
  });

  it.each([
    ['Text', 'a text'],
    ['Wi-Fi', 'a network'],
    ['Contact', 'a contact'],
    ['E-mail', 'an email address'],
    ['Phone', 'a phone number'],
    ['SMS', 'a phone number'],
    ['Event', 'an event'],
    ['Location', 'a location'],
  ])('of %s that is incomplete says what to enter on download', async (name, what) => {
    const user = await open();
    await user.click(kind(name));
    screen.getByText(`Enter ${what} to create a QR code.`);
    expect(screen.queryByRole('textbox', { description: /^Enter/ })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'DOWNLOAD QR' }));
    await waitFor(() => expect(toasts()).toEqual([`Please enter ${what} to start downloading...`]));
    expect(document.querySelectorAll('[aria-invalid="true"]').length).toBeGreaterThan(0);
    expect(saved).toEqual([]);
    await user.click(kind('Link'));
    screen.getByText('Enter a link to create a QR code.');
    await user.click(screen.getByRole('button', { name: 'DOWNLOAD QR' }));
    await waitFor(() => expect(toasts()).toContain('Please enter a link to start downloading...'));
  });

  it.each(choices.map(({ text }) => text))('of %s is accessible', async (name) => {
    const user = await open();
    await user.click(kind(name));
    expect(kind(name)).toBeChecked();
    await expectNoAxeViolations();
  });

  it('splits a pasted pair of coordinates', async () => {
    const user = await open();
    await user.click(kind('Location'));
    await user.click(screen.getByLabelText('Latitude'));
    await user.paste('40.4168, -3.7038');
    expect(url()).toHaveValue('geo:40.4168,-3.7038');
    // A pair that is typed stays in the first field until the field loses the focus.
    await user.tab();
    expect(screen.getByLabelText('Latitude')).toHaveValue('40.4168');
    expect(screen.getByLabelText('Longitude')).toHaveValue('-3.7038');
    expect(url()).toHaveValue('geo:40.4168,-3.7038');
  });

  it('says when it is too long, and how much space it uses', async () => {
    const user = await open();
    await user.click(kind('Text'));
    fireEvent.change(screen.getByLabelText('Text', { selector: 'textarea' }), {
      target: { value: 'x'.repeat(2954) },
    });
    expect(screen.getAllByText('2,954 of 2,953 bytes used')).toHaveLength(2);
    expect(screen.getAllByText('This text is too long for a QR code').length).toBeGreaterThan(1);
  });

  it('offers a vCard version for older phones', async () => {
    const user = await open();
    await user.click(kind('Contact'));
    await user.type(screen.getByLabelText('First name'), 'Ana');
    expect(url().value).toContain('VERSION:4.0');
    await user.click(kind('vCard 3.0 (for older phones)'));
    expect(url().value).toContain('VERSION:3.0');
  });
});

describe('a form of an event', () => {
  const fill = (label: string, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  const id = () => /^UID:.+$/m.exec(url().value)?.[0];

  it('creates a different code for a different event, and the same code for the same event', async () => {
    const user = await open();
    await user.click(kind('Event'));
    fill('Title', 'Walk');
    fill('Start date', '2026-12-01');
    fill('Start time', '18:30');
    const [text, walk] = [url().value, id()];
    expect(walk).toBeDefined();
    fill('Title', 'Supper');
    expect(id()).not.toBe(walk);
    await user.click(kind('Link'));
    await user.click(kind('Event'));
    fill('Title', 'Walk');
    expect(url()).toHaveValue(text);
  });

  it('shows an error for an invalid day', async () => {
    const user = await open();
    await user.click(kind('Event'));
    fill('Title', 'Walk');
    fill('Start date', '2026-12-01');
    fill('Start time', '18:30');
    for (const label of ['Start date', 'End date']) {
      expect(screen.getByLabelText(label)).toHaveAttribute('max', LAST_DAY);
    }
    fill('End time', '18:30');
    fill('End date', '20266-12-01');
    fireEvent.blur(screen.getByLabelText('End date'));
    expect(screen.getByLabelText('End date')).toHaveAccessibleDescription('Enter an end date');
    expect(url()).toHaveValue('');
  });
});

it('the fields of each kind, and the text of a link, are kept', async () => {
  const user = await open();
  fireEvent.change(url(), { target: { value: 'https://example.org/' } });
  await user.click(kind('Phone'));
  fireEvent.change(screen.getByLabelText('Number'), { target: { value: '+34 600 123 456' } });
  expect(url()).toHaveValue('tel:+34600123456');
  await user.click(kind('Link'));
  expect(url()).toHaveValue('https://example.org/');
  await user.click(kind('Phone'));
  expect(screen.getByLabelText('Number')).toHaveValue('+34 600 123 456');
  fireEvent.change(url(), { target: { value: 'https://example.org/b' } });
  expect(kind('Link')).toBeChecked();
});

describe('a list', () => {
  const rows = () => screen.getByRole('textbox', { name: /^Rows/ });
  const button = (name: string) => screen.getByRole('button', { name });
  const given = 'A,x\nB,\nC,y';
  const start = async () => {
    const user = await open();
    await screen.findByRole('heading', { name: 'Batch' });
    await waitFor(() => expect(rows()).toBeVisible());
    fireEvent.change(rows(), { target: { value: given } });
    await screen.findByText('2 QR codes to create, 1 row with errors.');
    await user.click(button('Download ZIP'));
    await waitFor(() => expect(workers.size).toBe(1));
    const [worker] = workers;
    if (!worker) throw new Error('There is no worker');
    return { user, worker };
  };
  const failing = () =>
    within(screen.getByRole('list', { name: 'Rows that failed' }))
      .getAllByRole('listitem')
      .map((item) => item.textContent);

  it('is created in a worker and saved, and its failing rows are reported', async () => {
    const { worker } = await start();
    expect(worker.job?.wanted).toEqual({ ending: '.png', pixels: 400 });
    expect(worker.job?.rows).toEqual([
      { number: 1, name: 'A', content: 'x' },
      { number: 3, name: 'C', content: 'y' },
    ]);
    worker.say({ done: 1, failure: null });
    expect(screen.getByRole('progressbar', { name: '1 of 2 created and checked' })).toHaveValue(1);
    await expectNoAxeViolations();
    worker.say({ done: 2, failure: { number: 3, name: 'C', cause: 'No.' } });
    worker.say({ file: new Blob() });
    await waitFor(() => expect(saved).toEqual(['my-qr-code.zip']));
    await waitFor(() =>
      expect(failing()).toEqual(['Row 2 (B): The content is missing.', 'Row 3 (C): No.']),
    );
    expect(screen.getAllByText('1 QR code created and checked. 2 rows failed.')).toHaveLength(2);
    expect(workers.size).toBe(0);
    await expectNoAxeViolations();
  });

  it('saves nothing if every row fails', async () => {
    const { worker } = await start();
    worker.say({ done: 1, failure: { number: 1, name: 'A', cause: 'No.' } });
    worker.say({ done: 2, failure: { number: 3, name: 'C', cause: 'No.' } });
    worker.say({ file: new Blob() });
    await waitFor(() => expect(failing()).toHaveLength(3));
    expect(saved).toEqual([]);
  });

  it('can be canceled, which terminates its worker', async () => {
    const { user } = await start();
    await user.click(button('Cancel'));
    await waitFor(() => expect(workers.size).toBe(0));
    await waitFor(() => expect(button('Download ZIP')).toBeVisible());
    expect(saved).toEqual([]);
  });

  it('terminates its worker when the user leaves the page', async () => {
    const { user } = await start();
    await user.click(screen.getAllByRole('link', { name: 'HOME' })[0] as HTMLElement);
    await waitFor(() => expect(workers.size).toBe(0));
  });

  it('says when its worker fails', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { worker } = await start();
    act(
      () => void worker.dispatchEvent(new ErrorEvent('error', { message: 'no', cancelable: true })),
    );
    await waitFor(() =>
      expect(screen.getAllByText('The QR codes were not created. Please try again.')).toHaveLength(
        2,
      ),
    );
    expect(saved).toEqual([]);
  });

  it.each([
    ['SVG', { ending: '.svg' }, 'an SVG file'],
    ['PDF', { ending: '.pdf', millimetres: 32.5 }, 'a PDF file 32.5 mm wide'],
  ])('creates %s files', async (ending, wanted, words) => {
    const user = await open();
    const width = screen.getByLabelText('Print width (mm)');
    await user.click(await screen.findByRole('radio', { name: ending }));
    await user.clear(width);
    fireEvent.change(width, { target: { value: '32,5' } });
    screen.getByText(new RegExp(`Each row becomes ${words} in the current style`));
    fireEvent.change(rows(), { target: { value: given } });
    await screen.findByText('2 QR codes to create, 1 row with errors.');
    await user.click(button('Download ZIP'));
    await waitFor(() => expect([...workers][0]?.job?.wanted).toEqual(wanted));
  });

  it('is offered a quiet zone for all of its files', async () => {
    const user = await open();
    await screen.findByRole('heading', { name: 'Batch' });
    fireEvent.change(await screen.findByRole('textbox', { name: /^Rows/ }), {
      target: { value: 'A,x' },
    });
    const batch = within(screen.getByRole('region', { name: 'Batch' }));
    await user.click(batch.getByRole('button', { name: 'Add a quiet zone' }));
    await user.click(button('Download ZIP'));
    await waitFor(() => expect([...workers][0]?.job?.style.quietZone).toBe(true));
    expect(batch.queryByRole('button', { name: 'Add a quiet zone' })).toBeNull();
  });

  it('of more than 500 rows is refused', async () => {
    const user = await open();
    await screen.findByRole('heading', { name: 'Batch' });
    const many = Array.from({ length: 501 }, (_, at) => `n${at},x`).join('\n');
    fireEvent.change(rows(), { target: { value: many } });
    await screen.findByText(/501 QR codes to create/);
    await user.click(button('Download ZIP'));
    expect(rows()).toHaveAccessibleDescription(/^Enter at most 500 rows[.] The list has 501[.]/);
    expect(workers.size).toBe(0);
  });

  it('of PDF files requires a width', async () => {
    const user = await open();
    await user.click(await screen.findByRole('radio', { name: 'PDF' }));
    const width = screen.getByLabelText('Print width (mm)');
    fireEvent.change(width, { target: { value: '5' } });
    fireEvent.change(rows(), { target: { value: given } });
    await screen.findByText('2 QR codes to create, 1 row with errors.');
    await user.click(button('Download ZIP'));
    expect(rows()).toHaveAccessibleDescription(/^Enter 10 to 1,000 millimeters/);
    expect(workers.size).toBe(0);
  });

  it('of large images says that it takes a while', async () => {
    const user = await open();
    await screen.findByRole('heading', { name: 'Batch' });
    await user.click(screen.getByRole('radio', { name: '3,200' }));
    const many = Array.from({ length: 500 }, (_, at) => `n${at},x`).join('\n');
    fireEvent.change(await screen.findByRole('textbox', { name: /^Rows/ }), {
      target: { value: many },
    });
    await screen.findByText(/^500 PNG files of 3,200 pixels may take 8 minutes/);
    await user.click(screen.getByRole('radio', { name: '400' }));
    await waitFor(() => expect(screen.queryByText(/may take/)).toBeNull());
  });

  it('is read from a file', async () => {
    const user = await open();
    await screen.findByRole('heading', { name: 'Batch' });
    const list = 'Puerta;https://x.org/a';
    const { buffer } = new TextEncoder().encode(list);
    // jsdom files cannot be read.
    const file = Object.assign(new File([list], 'a.csv', { type: 'text/csv' }), {
      arrayBuffer: () => Promise.resolve(buffer),
    });
    await user.upload(await screen.findByLabelText('Open a CSV file'), file);
    await screen.findByText('1 QR code to create.');
    expect(rows()).toHaveValue(list);
  });
});
