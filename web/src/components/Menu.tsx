import {
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
} from 'react';
import styles from './Menu.module.css';

export interface MenuItem {
  text: string;
  onChoose: () => void;
}

interface MenuProps {
  /** Accessible name of the button. */
  label: string;
  items: readonly MenuItem[];
}

/**
 * A button that opens a menu of actions, by the menu button pattern of the ARIA Authoring
 * Practices.
 */
export function Menu({ label, items }: MenuProps) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  /** The item that gets the focus on opening; null while closed. */
  const [opened, setOpened] = useState<'first' | 'last' | null>(null);
  const [up, setUp] = useState(false);

  const entries = () => Array.from(list.current?.children ?? []) as HTMLElement[];

  useLayoutEffect(() => {
    if (!opened || !list.current || !button.current) return;
    const { bottom, top } = button.current.getBoundingClientRect();
    const { height } = list.current.getBoundingClientRect();
    setUp(bottom + height > innerHeight && top > height);
    entries()
      .at(opened === 'first' ? 0 : -1)
      ?.focus();
  }, [opened]);

  const close = () => {
    // Move the focus first, so that it is not inside an element that is removed.
    button.current?.focus();
    setOpened(null);
  };

  const onButtonKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    setOpened(event.key === 'ArrowDown' ? 'first' : 'last');
  };

  const onListKey = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.findIndex((entry) => entry === document.activeElement);
    const goTo = (index: number) => all.at(index % all.length)?.focus();
    if (event.key === 'ArrowDown') goTo(at + 1);
    else if (event.key === 'ArrowUp') goTo(at - 1);
    else if (event.key === 'Home') goTo(0);
    else if (event.key === 'End') goTo(-1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') {
      // The browser continues from the button.
      close();
      return;
    } else if (isLetter(event)) {
      const letter = event.key.toLowerCase();
      const next = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      next.find((entry) => entry.textContent.toLowerCase().startsWith(letter))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const onBlur = ({ relatedTarget }: FocusEvent) => {
    // Stay open if only the window lost the focus.
    if (root.current?.contains(relatedTarget ?? document.activeElement)) return;
    setOpened(null);
  };

  return (
    <div ref={root} className={styles.root}>
      <button
        ref={button}
        type="button"
        className={styles.button}
        aria-haspopup="menu"
        aria-expanded={opened !== null}
        aria-controls={opened ? id : undefined}
        aria-label={label}
        onClick={() => setOpened(opened ? null : 'first')}
        onKeyDown={onButtonKey}
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <circle cx="5" cy="12" r="2" />
          <circle cx="12" cy="12" r="2" />
          <circle cx="19" cy="12" r="2" />
        </svg>
      </button>
      {opened && (
        <div
          ref={list}
          id={id}
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className={styles.list}
          data-up={up || undefined}
          onKeyDown={onListKey}
          onBlur={onBlur}
        >
          {items.map(({ text, onChoose }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                onChoose();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
}
