import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Link, MemoryRouter, Route, Routes, useNavigate } from 'react-router-dom';
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

/** Opens a document in this way, with two pages, the second of which has a section. */
async function open(type: NavigationTimingType, path: string) {
  vi.resetModules();
  const { Page } = await import('../src/components/Page');
  vi.stubGlobal('performance', { getEntriesByType: () => [{ type }] });
  const user = userEvent.setup();
  render(
    <MemoryRouter initialEntries={[path]}>
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
      </Routes>
    </MemoryRouter>,
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
  await user.click(screen.getByRole('button', { name: 'Go 1' }));
  expect(part()).toHaveFocus();
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
