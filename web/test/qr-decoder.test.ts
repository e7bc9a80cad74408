import { describe, expect, it, vi } from 'vitest';
import { loadDecoder, measurePicture, readPicture } from '../src/features/qr/decoder';
import { decoder, FakeWorker, fakeQrPage, workers } from './qr';

fakeQrPage();

describe('the decoder', () => {
  const picture = () => ({ width: 1, data: new Uint8ClampedArray(4) }) as unknown as ImageData;

  it('is terminated if it does not respond, and replaced by a new one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    decoder.reads = () => 'read';
    decoder.hangs = true;
    const first = await loadDecoder();
    const asked = readPicture(first, picture());
    const refused = expect(asked).rejects.toThrow('did not answer');
    vi.advanceTimersByTime(6_000);
    await refused;
    expect(workers).not.toContain(first);
    decoder.hangs = false;
    const second = await loadDecoder();
    expect(second).not.toBe(first);
    const read = readPicture(second, picture());
    vi.advanceTimersByTime(6_000);
    expect(await read).toBe('read');
    expect(workers).toContain(second);
  });

  it('measures only the newest image, and still reads saved ones', async () => {
    decoder.reads = () => 'read';
    decoder.hangs = true;
    const loaded = await loadDecoder();
    const older = measurePicture(loaded, picture());
    decoder.hangs = false;
    const file = readPicture(loaded, picture());
    const newer = measurePicture(loaded, picture());
    expect(await older).toBeNull();
    expect(await newer).toMatchObject({ text: 'read', lost: null });
    expect(await file).toBe('read');
  });

  it('is created again if the browser failed to create one', async () => {
    const refuse = () => {
      throw new DOMException('no', 'SecurityError');
    };
    vi.stubGlobal('Worker', refuse);
    await expect(loadDecoder()).rejects.toThrow();
    vi.stubGlobal('Worker', FakeWorker);
    decoder.reads = () => 'read';
    expect(await loadDecoder()).toBeInstanceOf(FakeWorker);
  });
});
