import { useEffect, useEffectEvent, useLayoutEffect, useRef, type ReactNode } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router-dom';
import { publicUrl } from '../lib/config';
import { messages } from './messages';
import styles from './Page.module.css';

/** The document was loaded with this page on it; every later one was walked to. */
let walked = false;

interface PageProps {
  /** Of the document; the product's name is added. */
  title: string;
  description: string;
  children: ReactNode;
  /** Sections from edge to edge, each with its own column. */
  wide?: boolean;
}

/**
 * Gives the document its title and description. The focus goes to the section that the address
 * names, on a route change else to the h1.
 */
export function Page({ title, description, children, wide = false }: PageProps) {
  const root = useRef<HTMLDivElement>(null);

  const { pathname, hash } = useLocation();
  const navigation = useNavigationType();

  useLayoutEffect(() => {
    document.title = `${title} · ${messages.product}`;
    describe('meta[name="description"]', description);
    describe('meta[property="og:title"]', document.title);
    describe('meta[property="og:description"]', description);
    describe('meta[property="og:url"]', publicUrl() + pathname);
    describe('link[rel="canonical"]', publicUrl() + pathname, 'href');
  }, [title, description, pathname]);

  const arrive = useEffectEvent(() => {
    // The browser looked for the section before this page had come.
    const section = sectionOf(hash);
    if (section) {
      if (!isRestored(navigation)) section.scrollIntoView();
      section.focus({ preventScroll: true });
    } else if (walked) {
      const heading = root.current?.querySelector('h1');
      heading?.setAttribute('tabindex', '-1');
      heading?.focus({ preventScroll: true });
    }
    walked = true;
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
  return !walked;
}

/** Whether the browser puts who comes where they were: after going back, and after a reload. */
function isRestored(navigation: NavigationType): boolean {
  if (walked) return navigation === NavigationType.Pop;
  const [opened] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return opened?.type === 'reload' || opened?.type === 'back_forward';
}

function sectionOf(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null; // Not every text behind a # is well formed.
  }
}

function describe(selector: string, text: string, attribute = 'content'): void {
  document.querySelector(selector)?.setAttribute(attribute, text);
}
