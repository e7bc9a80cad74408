import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useLayoutEffect } from 'react';
import { BrowserRouter, Link, Route, Routes, useNavigate } from 'react-router-dom';
import { beforeEach, expect, it, vi } from 'vitest';

const scrolled = vi.fn();

beforeEach(() => {
  scrolled.mockClear();
  Element.prototype.scrollIntoView = scrolled;
});

function Go({ by }: { by: number }) {
  const navigate = useNavigate();
  return <button onClick={() => void navigate(by)}>Go {by}</button>;
}

/** Chooses a fragment when the page is rendered, before its effects. */
function Choose({ fragment }: { fragment: string }) {
  useLayoutEffect(() => {
    window.history.replaceState(null, '', fragment);
  }, [fragment]);
  return null;
}

/** Opens a document in this way, with three pages, two of which have a section. */
async function open(type: NavigationTimingType, path: string) {
  vi.resetModules();
  const { Page } = await import('../src/components/Page');
  vi.stubGlobal('performance', { getEntriesByType: () => [{ type }] });
  const user = userEvent.setup();
  window.history.pushState(null, '', path);
  render(
    <BrowserRouter>
      <Routes>
        <Route
          path="/first"
          element={
            <Page key="first" title="First" description="">
              <h1>First</h1>
              <Link to="/second#part">On</Link>
              <Go by={1} />
            </Page>
          }
        />
        <Route
          path="/second"
          element={
            <Page key="second" title="Second" description="">
              <h1>Second</h1>
              <section id="part" aria-label="Part" tabIndex={-1} />
              <Go by={-1} />
            </Page>
          }
        />
        <Route
          path="/chosen"
          element={
            <Page key="chosen" title="Chosen" description="">
              <h1>Chosen</h1>
              <section id="initial" aria-label="Initial" tabIndex={-1} />
              <section id="part" aria-label="Part" tabIndex={-1} />
              <Choose fragment="#part" />
            </Page>
          }
        />
      </Routes>
    </BrowserRouter>,
  );
  vi.unstubAllGlobals();
  return user;
}

const part = () => screen.getByRole('region', { name: 'Part' });

it('scrolls to the section of the URL, but not when the user goes back to it', async () => {
  const user = await open('navigate', '/first');
  await user.click(screen.getByRole('link', { name: 'On' }));
  expect(part()).toHaveFocus();
  expect(scrolled).toHaveBeenCalledOnce();
  await user.click(screen.getByRole('button', { name: 'Go -1' }));
  await user.click(await screen.findByRole('button', { name: 'Go 1' }));
  await waitFor(() => expect(part()).toHaveFocus());
  expect(scrolled).toHaveBeenCalledOnce();
});

it.each([
  ['navigate', 1],
  ['reload', 0],
  ['back_forward', 0],
] as const)('scrolls in a document opened by %s %i times', async (type, times) => {
  await open(type, '/second#part');
  expect(part()).toHaveFocus();
  expect(scrolled).toHaveBeenCalledTimes(times);
});

it('stays at the section that was chosen while the scripts took over', async () => {
  await open('navigate', '/chosen#initial');
  expect(part()).toHaveFocus();
});
