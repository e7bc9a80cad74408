import { screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { heading, visit } from './app';

vi.mock('../src/pages/TermsPage', () => {
  throw new Error('the connection is down');
});

it('a page whose code does not load says so, and the rest goes on', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const { user } = visit('/');
  await user.click(screen.getByRole('link', { name: 'TERMS OF USE' }));
  await heading('This page did not load');
  expect(screen.getByRole('button', { name: 'Load again' })).toBeInTheDocument();
  await user.click(screen.getByRole('link', { name: 'LOGIN' }));
  await heading('Login');
});
