import { useEffect, useEffectEvent, useLayoutEffect, useRef, type ReactNode } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router-dom';
import { hasGuestLinks, publicUrl } from '../lib/config';
import { messages } from './messages';
import styles from './Page.module.css';

/** Title and description of a document. */
export interface Head {
  title: string;
  description: string;
}

/** The head of the page that was rendered last, at build time only. */
export const head: Head & { offer: string } = { title: '', description: '', offer: '' };

/** Whether a page has been shown in this document. Later pages are reached by navigation. */
let hasNavigated = false;

interface PageProps {
  /** Title of the document, without the product's name, which is added. */
  title: string;
  description: string;
  /** The end of the description where links can be created without an account. */
  offer?: string;
  children: ReactNode;
  /** Whether sections span the whole width, each with its own column. */
  wide?: boolean;
}

/**
 * A page, which sets the title and description of the document.
 *
 * Moves the focus to the section that the URL fragment names, otherwise on a route change to the
 * h1.
 */
export function Page({ title, description, offer = '', children, wide = false }: PageProps) {
  const root = useRef<HTMLDivElement>(null);

  const { pathname } = useLocation();
  const navigation = useNavigationType();

  const fullTitle = `${title} · ${messages.product}`;
  const fullDescription = offer && hasGuestLinks() ? `${description} ${offer}` : description;
  if (import.meta.env.SSR) Object.assign(head, { title: fullTitle, description, offer });

  useLayoutEffect(() => {
    document.title = fullTitle;
    describe('meta[name="description"]', fullDescription);
    describe('meta[property="og:title"]', document.title);
    describe('meta[property="og:description"]', fullDescription);
    locate(publicUrl() + pathname);
  }, [fullTitle, fullDescription, pathname]);

  const arrive = useEffectEvent(() => {
    // The browser looked for the section before this page was rendered. Its fragment, not the
    // router's, is the one that was chosen last, perhaps while the scripts took over the document.
    const section = sectionOf(window.location.hash);
    if (section) {
      if (!isRestored(navigation)) section.scrollIntoView();
      section.focus({ preventScroll: true });
    } else if (hasNavigated) {
      const heading = root.current?.querySelector('h1');
      heading?.setAttribute('tabindex', '-1');
      heading?.focus({ preventScroll: true });
    }
    hasNavigated = true;
  });
  useEffect(() => arrive(), []);

  return (
    <div ref={root} className={wide ? undefined : styles.body}>
      {children}
    </div>
  );
}

/** Whether this page is the first since the document was loaded. */
export function isFirstPage(): boolean {
  return !hasNavigated;
}

/** Whether the browser restores the scroll position: after going back, and after a reload. */
function isRestored(navigation: NavigationType): boolean {
  if (hasNavigated) return navigation === NavigationType.Pop;
  const [opened] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return opened?.type === 'reload' || opened?.type === 'back_forward';
}

function sectionOf(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null; // The fragment may be malformed.
  }
}

function describe(selector: string, text: string): void {
  document.querySelector(selector)?.setAttribute('content', text);
}

/** Sets the URLs of the page. The query of each is a language, which stays. */
function locate(url: string): void {
  const links = 'link[rel="canonical"], link[hreflang]';
  for (const link of document.querySelectorAll<HTMLLinkElement>(links)) {
    link.href = url + (/[?]lang=.*$/.exec(link.href)?.[0] ?? '');
    if (link.rel === 'canonical') describe('meta[property="og:url"]', link.href);
  }
}
