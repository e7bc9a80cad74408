import { useEffect, useRef } from 'react';
import { Link, NavLink, useLocation } from 'react-router-dom';
import { Mark } from '../components/Mark';
import { Offered } from '../components/Offered';
import { messages as shared } from '../components/messages';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';
import styles from './Header.module.css';
import { messages } from './messages';

/**
 * Media query of the wide layout. Below it, the menu is a sheet. Keep it equal to
 * Header.module.css.
 */
const WIDE = '(min-width: 1100px)';

const common = [
  { to: paths.home, text: messages.home },
  { to: paths.shortener, text: messages.shortener },
  { to: paths.qr, text: messages.qr },
];
const login = { to: paths.login, text: messages.login };
const register = { to: paths.register, text: messages.register };
const account = { to: paths.account, text: messages.account };

interface HeaderProps {
  open: boolean;
  setOpen: (open: boolean) => void;
}

export function Header({ open, setOpen }: HeaderProps) {
  const owner = useOwner();
  const header = useRef<HTMLElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const nav = useRef<HTMLElement>(null);
  const { key } = useLocation();

  useEffect(() => setOpen(false), [key, setOpen]);
  useScrollLock(open);
  useEffect(() => {
    const wide = matchMedia(WIDE);
    // Either the button or the entries are hidden. If the hidden one had the focus, move it to the
    // other.
    let last: EventTarget | null = null;
    const onFocusIn = (event: FocusEvent) => {
      last = event.target;
    };
    const onChange = () => {
      // A hidden element has already lost the focus.
      const isLost = document.activeElement === document.body;
      const focused = isLost ? (last as Node | null) : document.activeElement;
      if (!wide.matches) {
        if (nav.current?.contains(focused)) button.current?.focus();
        return;
      }
      if (focused === button.current) nav.current?.querySelector('a')?.focus();
      setOpen(false);
    };
    wide.addEventListener('change', onChange);
    addEventListener('focusin', onFocusIn);
    return () => {
      wide.removeEventListener('change', onChange);
      removeEventListener('focusin', onFocusIn);
    };
  }, [setOpen]);
  useEffect(() => {
    if (open || matchMedia(WIDE).matches) return;
    if (nav.current?.contains(document.activeElement)) button.current?.focus();
  }, [open]);

  useEffect(() => {
    if (!open) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        setOpen(false);
        button.current?.focus();
      } else if (event.key === 'Tab' && header.current) {
        keepInside(header.current, event);
      }
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [open, setOpen]);

  const item = ({ to, text }: { to: string; text: string }, apart: boolean) => (
    <NavLink
      key={to}
      to={to}
      end
      caseSensitive
      className={apart ? (styles.apart ?? '') : ''}
      onClick={() => setOpen(false)}
    >
      {text}
    </NavLink>
  );

  return (
    <header ref={header} className={styles.header} data-open={open}>
      <div className={styles.row}>
        <Link className={styles.brand} to={paths.home} onClick={() => setOpen(false)}>
          <Mark kind="bent" />
          {shared.product}
        </Link>
        <button
          ref={button}
          type="button"
          className={styles.menu}
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          {messages.menu}
        </button>
        <nav ref={nav} id="menu" className={styles.nav} aria-label={messages.mainMenu}>
          {common.map((link) => item(link, false))}
          {item(owner.kind === 'account' ? account : login, true)}
          {owner.kind !== 'account' && (
            <Offered where="registration">{item(register, false)}</Offered>
          )}
        </nav>
      </div>
    </header>
  );
}

function useScrollLock(locked: boolean): void {
  useEffect(() => {
    if (!locked) return undefined;
    document.documentElement.dataset['locked'] = '';
    return () => {
      delete document.documentElement.dataset['locked'];
    };
  }, [locked]);
}

function keepInside(header: HTMLElement, event: KeyboardEvent): void {
  const stops = [...header.querySelectorAll<HTMLElement>('a, button')];
  const first = stops[0];
  const last = stops.at(-1);
  if (event.shiftKey && document.activeElement === first) {
    event.preventDefault();
    last?.focus();
  } else if (!event.shiftKey && document.activeElement === last) {
    event.preventDefault();
    first?.focus();
  }
}
