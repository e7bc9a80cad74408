import { Suspense, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router-dom';
import { Announcer } from '../components/Announcer';
import { Offline } from '../components/Offline';
import { Spinner } from '../components/Spinner';
import { ClaimOffer } from '../features/claim/ClaimOffer';
import { Footer } from './Footer';
import styles from './Frame.module.css';
import { Header } from './Header';
import { LoadBoundary } from './LoadBoundary';
import { messages } from './messages';
import { useKeptFocus } from './useKeptFocus';

export function Frame({ children }: { children: ReactNode }) {
  const { pathname } = useLocation();
  const navigation = useNavigationType();
  const [menuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useKeptFocus(main);

  const onPage = useEffectEvent(() => {
    if (navigation !== NavigationType.Pop) scrollTo(0, 0);
  });
  useEffect(() => onPage(), [pathname]);

  return (
    <>
      <a className={styles.skip} href="#main" inert={menuOpen}>
        {messages.skip}
      </a>
      <Header open={menuOpen} setOpen={setMenuOpen} />
      <div inert={menuOpen}>
        <ClaimOffer />
      </div>
      <main ref={main} id="main" className={styles.main} tabIndex={-1} inert={menuOpen}>
        <Offline />
        <LoadBoundary key={pathname}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </LoadBoundary>
      </main>
      <Footer inert={menuOpen} />
      <Announcer />
    </>
  );
}

/** Loading indicator. CSS hides it for the first 200 ms. */
function Loading() {
  return (
    <div className={styles.loading}>
      <Spinner label={messages.loading} />
    </div>
  );
}
