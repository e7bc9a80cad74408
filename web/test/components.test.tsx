/** Shared components, as used by keyboard, pointer and screen reader. */
import { act, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Choice } from '../src/components/Choice';
import { Dialog, DialogActions } from '../src/components/Dialog';
import { Menu } from '../src/components/Menu';
import { offerToast } from '../src/components/toast';
import { Toasts } from '../src/components/Toasts';
import { expectNoAxeViolations } from './app';

beforeEach(() => {
  document.title = 'Page';
});

function Asking({ onClose = () => undefined }: { onClose?: () => void }) {
  const [open, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    onClose();
  };
  return (
    <main>
      <h1>Page</h1>
      <button onClick={() => setOpen(true)}>Ask</button>
      {open && (
        <Dialog title="Remove 12 links?" onClose={close}>
          <p>They lead nowhere.</p>
          <DialogActions>
            <button onClick={close}>Cancel</button>
          </DialogActions>
        </Dialog>
      )}
    </main>
  );
}

describe('a dialog', () => {
  it('has a name and the focus, and locks the page behind it', async () => {
    const user = userEvent.setup();
    render(<Asking />);
    await user.click(screen.getByRole('button', { name: 'Ask' }));
    const dialog = screen.getByRole('dialog', { name: 'Remove 12 links?' });
    expect(within(dialog).getByRole('button', { name: 'Cancel' })).toHaveFocus();
    expect(document.documentElement).toHaveAttribute('data-locked');
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(document.documentElement).not.toHaveAttribute('data-locked');
    expect(screen.getByRole('button', { name: 'Ask' })).toHaveFocus();
  });

  it('closes on Escape and on a click on the backdrop, but not on a click inside', async () => {
    const user = userEvent.setup();
    const closed = vi.fn();
    render(<Asking onClose={closed} />);
    const ask = screen.getByRole('button', { name: 'Ask' });
    await user.click(ask);
    await user.keyboard('{Escape}');
    expect(closed).toHaveBeenCalledTimes(1);
    expect(ask).toHaveFocus();
    await user.click(ask);
    await user.click(screen.getByText('They lead nowhere.'));
    expect(closed).toHaveBeenCalledTimes(1);
    await user.click(screen.getByRole('dialog'));
    expect(closed).toHaveBeenCalledTimes(2);
  });
});

describe('a menu', () => {
  const chosen = vi.fn();
  const show = () => {
    chosen.mockReset();
    const items = ['Copy', 'QR code', 'Change', 'Remove'].map((text) => ({
      text,
      onChoose: () => void chosen(text),
    }));
    render(
      <main>
        <h1>Page</h1>
        <Menu label="More" items={items} />
        <button>After</button>
      </main>,
    );
    return userEvent.setup();
  };
  const button = () => screen.getByRole('button', { name: 'More' });
  const item = (name: string) => screen.getByRole('menuitem', { name });

  it('opens on a click, and runs the chosen action once', async () => {
    const user = show();
    expect(button()).toHaveAttribute('aria-expanded', 'false');
    await user.click(button());
    expect(button()).toHaveAttribute('aria-expanded', 'true');
    expect(item('Copy')).toHaveFocus();
    await expectNoAxeViolations();
    await user.click(item('Change'));
    expect(chosen.mock.calls).toEqual([['Change']]);
    expect(screen.queryByRole('menu')).toBeNull();
    expect(button()).toHaveFocus();
    await expectNoAxeViolations();
  });

  it('is operated by keyboard', async () => {
    const user = show();
    await user.tab();
    await user.keyboard('{ArrowUp}');
    expect(item('Remove')).toHaveFocus();
    await user.keyboard('{ArrowDown}');
    expect(item('Copy')).toHaveFocus();
    await user.keyboard('{ArrowUp}');
    expect(item('Remove')).toHaveFocus();
    await user.keyboard('{Home}');
    expect(item('Copy')).toHaveFocus();
    await user.keyboard('{End}');
    expect(item('Remove')).toHaveFocus();
    await user.keyboard('c');
    expect(item('Copy')).toHaveFocus();
    await user.keyboard('c');
    expect(item('Change')).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(chosen.mock.calls).toEqual([['Change']]);
    expect(button()).toHaveFocus();
  });

  it('closes on Escape, which returns the focus, and on losing the focus', async () => {
    const user = show();
    await user.tab();
    await user.keyboard('{ArrowDown}{Escape}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(button()).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(item('Copy')).toHaveFocus();
    await user.tab();
    expect(screen.queryByRole('menu')).toBeNull();
    expect(screen.getByRole('button', { name: 'After' })).toHaveFocus();
    await user.click(button());
    await user.click(document.body);
    expect(screen.queryByRole('menu')).toBeNull();
    await user.click(button());
    await user.click(button());
    expect(screen.queryByRole('menu')).toBeNull();
    expect(chosen).not.toHaveBeenCalled();
  });
});

describe('a choice of options', () => {
  it('is one group of radio buttons', async () => {
    const user = userEvent.setup();
    function Orders() {
      const [order, setOrder] = useState<'newest' | 'oldest'>('newest');
      return (
        <main>
          <h1>Page</h1>
          <Choice
            label="Order"
            options={[
              { value: 'newest', text: 'Newest' },
              { value: 'oldest', text: 'Oldest' },
            ]}
            value={order}
            onChange={setOrder}
          />
        </main>
      );
    }
    render(<Orders />);
    const group = screen.getByRole('group', { name: 'Order' });
    expect(within(group).getByRole('radio', { name: 'Newest' })).toBeChecked();
    await user.click(within(group).getByRole('radio', { name: 'Oldest' }));
    expect(within(group).getByRole('radio', { name: 'Oldest' })).toBeChecked();
    expect(within(group).getByRole('radio', { name: 'Newest' })).not.toBeChecked();
    await expectNoAxeViolations();
  });
});

describe('a toast with an action', () => {
  it('says what was done, and runs its action once', async () => {
    const user = userEvent.setup();
    const undone = vi.fn();
    render(
      <main>
        <h1>Page</h1>
        <Toasts />
      </main>,
    );
    act(() => offerToast('3 links removed', { text: 'Undo', onChoose: undone }));
    const undo = await screen.findByRole('button', { name: 'Undo' });
    expect(undo.closest('[role="status"]')).toHaveTextContent('3 links removed');
    await expectNoAxeViolations();
    act(() => undo.focus());
    await user.keyboard('{Enter}');
    expect(undone).toHaveBeenCalledTimes(1);
  });
});
