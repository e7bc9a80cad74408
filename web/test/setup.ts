import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import stored from '../src/features/legal/stored.json';
import { closeServer } from './server';

const inBrowser = typeof window !== 'undefined';
/** Storage keys that the privacy page lists. */
const listedKeys = stored.browser.flatMap(({ fields }) => fields);

// Milliseconds. Awaited elements appear at once, but the machine may be busy.
configure({ asyncUtilTimeout: 20_000 });

// A visitor without a region, whatever the machine's is.
if (inBrowser) Object.defineProperty(navigator, 'languages', { value: ['en'], configurable: true });

beforeEach(() => {
  if (!inBrowser) return;
  localStorage.clear();
  // jsdom has no layout and no canvas: a row has a typical height, and nothing can be drawn.
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(60);
  HTMLCanvasElement.prototype.getContext = () => null;
  // Without layout, no size changes.
  window.ResizeObserver = class {
    observe = () => undefined;
    unobserve = () => undefined;
    disconnect = () => undefined;
  };
  // Every element in the document is visible.
  window.IntersectionObserver = class {
    root = null;
    rootMargin = '';
    scrollMargin = '';
    thresholds = [];
    constructor(private readonly tell: IntersectionObserverCallback) {}
    observe = () => this.tell([{ isIntersecting: true } as IntersectionObserverEntry], this);
    unobserve = () => undefined;
    disconnect = () => undefined;
    takeRecords = () => [];
  };
  // jsdom has no modal dialogs: this one opens, gets the focus and handles Escape.
  HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
    this.open = true;
    this.querySelector<HTMLElement>('input, button')?.focus();
    this.onkeydown = ({ key }) => {
      if (key === 'Escape') this.dispatchEvent(new Event('cancel', { cancelable: true }));
    };
  };
  HTMLDialogElement.prototype.close = function (this: HTMLDialogElement) {
    this.open = false;
  };
  window.scrollTo = () => undefined;
  window.matchMedia = (query) =>
    Object.assign(new EventTarget(), {
      media: query,
      matches: false,
      onchange: null,
      addListener: () => undefined,
      removeListener: () => undefined,
    });
});

afterEach(() => {
  if (!inBrowser) return;
  const kept = [localStorage, sessionStorage].flatMap((storage) => Object.keys(storage));
  // No state remains for the next test.
  cleanup();
  localStorage.clear();
  window.dispatchEvent(new StorageEvent('storage'));
  closeServer();
  vi.useRealTimers();
  expect(listedKeys).toEqual(expect.arrayContaining(kept.map((key) => `browser.${key}`)));
});
