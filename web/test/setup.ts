import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import stored from '../src/features/legal/stored.json';
import { closeServer } from './server';

const inBrowser = typeof window !== 'undefined';
/** What the privacy page says that the browser keeps. */
const told = stored.browser.flatMap(({ fields }) => fields);

// Milliseconds: what is awaited comes at once, but a machine may have much else to do.
configure({ asyncUtilTimeout: 20_000 });

beforeEach(() => {
  if (!inBrowser) return;
  localStorage.clear();
  // No layout in jsdom: a row is as high as most rows are, and nothing can be drawn.
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(60);
  HTMLCanvasElement.prototype.getContext = () => null;
  // Nothing is laid out, so nothing changes its size.
  window.ResizeObserver = class {
    observe = () => undefined;
    unobserve = () => undefined;
    disconnect = () => undefined;
  };
  // What is in the document is in sight.
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
  // jsdom knows of no modal dialogs: this one opens, has the focus, and hears Escape.
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
  // Who leaves leaves nothing to the next one.
  cleanup();
  localStorage.clear();
  window.dispatchEvent(new StorageEvent('storage'));
  closeServer();
  vi.useRealTimers();
  expect(told).toEqual(expect.arrayContaining(kept.map((key) => `browser.${key}`)));
});
