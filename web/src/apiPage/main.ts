/**
 * The documentation of the API: buttons to copy samples, the reader's key in them, and the theme.
 *
 * The page is complete without this script. Its content security policy allows no connections to
 * other sites, so the key cannot leak to one.
 */
import '../styles/fonts.css';
import '../styles/tokens.css';
import '../styles/base.css';
import './apiPage.css';
import { newApiKey } from '../lib/apiKey';
import { copyText } from '../lib/clipboard';
import { readItem } from '../lib/storage';
import { apply, chooseTheme, currentTheme, themes, type Theme } from '../lib/theme';

const COPIED_FOR = 2_000;

function addCopyButtons(): void {
  for (const pre of document.querySelectorAll<HTMLElement>('.sample pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', () => {
      void copyText(pre.textContent).then((copied) => {
        button.textContent = copied ? 'Copied' : 'Not copied';
        setTimeout(() => (button.textContent = 'Copy'), COPIED_FOR);
      });
    });
    pre.before(button);
  }
}

function fillInKey(): void {
  const form = document.querySelector<HTMLFormElement>('#key-form');
  const field = form?.querySelector('input');
  if (!form || !field) return;
  const places = Array.from(document.querySelectorAll('.key'), (place) => ({
    place,
    text: place.textContent,
  }));
  const show = () => {
    const key = field.value.trim();
    for (const { place, text } of places) place.textContent = key === '' ? text : key;
  };
  field.addEventListener('input', show);
  form.addEventListener('submit', (event) => event.preventDefault());
  field.value = newApiKey() ?? '';
  form.hidden = false;
  show();
}

/** Shows the menu of an account if a session is stored, which the account page then checks. */
function showMenu(): void {
  const isLoggedIn = readItem('userToken') !== null;
  for (const link of document.querySelectorAll<HTMLElement>('.guest')) link.hidden = isLoggedIn;
  for (const link of document.querySelectorAll<HTMLElement>('.account')) link.hidden = !isLoggedIn;
}

function addThemeSwitch(): void {
  const select = document.querySelector<HTMLSelectElement>('#theme');
  if (!select) return;
  select.value = currentTheme();
  select.addEventListener('change', () => {
    const chosen: Theme | undefined = themes.find((name) => name === select.value);
    if (chosen) chooseTheme(chosen);
  });
  select.closest('label')?.removeAttribute('hidden');
  apply();
}

showMenu();
addCopyButtons();
fillInKey();
addThemeSwitch();
