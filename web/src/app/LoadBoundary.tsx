import { Component, useEffect, useState, type ReactNode } from 'react';
import { reloadOnce, Outdated } from '../api';
import { Button } from '../components/Button';
import { Page } from '../components/Page';
import { announce } from '../lib/announce';
import { NotLoaded } from './lazyPage';
import { messages } from './messages';

interface State {
  failure: { error: unknown } | null;
}

/**
 * Error boundary of pages. Retries a page whose code did not load, and offers to reload a broken
 * one.
 */
export class LoadBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { failure: null };

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } };
  }

  override render() {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return (
      <Page title={messages.notLoadedTitle} description={messages.notLoaded}>
        <h1>{messages.notLoaded}</h1>
        <p>{messages.notLoadedReason}</p>
        {failure.error instanceof NotLoaded ? (
          <Retry failure={failure.error} onLoaded={() => this.setState({ failure: null })} />
        ) : (
          <LoadAgain busy={false} onClick={() => location.reload()} />
        )}
      </Page>
    );
  }
}

/** Milliseconds until the first automatic retry. Each later pause is twice as long. */
const PAUSE = 5_000;
/** Maximum pause between automatic retries, in multiples of PAUSE. */
const MAX_PAUSES = 12;

/** Retries automatically too, so that users who come back find the page or the newer document. */
function Retry({ failure, onLoaded }: { failure: NotLoaded; onLoaded: () => void }) {
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let hasLeft = false;
    const tryAgain = () => {
      failure.retry().then(
        () => {
          if (!hasLeft) onLoaded();
        },
        (error: unknown) => {
          if (!hasLeft && error instanceof Outdated) reloadOnce();
        },
      );
    };
    tryAgain();
    let pauses = 1;
    let waited = 0;
    const timer = setInterval(() => {
      if (document.hidden) return;
      waited += 1;
      if (waited < pauses) return;
      waited = 0;
      pauses = Math.min(2 * pauses, MAX_PAUSES);
      tryAgain();
    }, PAUSE);
    addEventListener('online', tryAgain);
    return () => {
      hasLeft = true;
      clearInterval(timer);
      removeEventListener('online', tryAgain);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- for as long as the failure is shown
  }, [failure]);

  const onClick = async () => {
    setBusy(true);
    try {
      await failure.retry();
      onLoaded();
    } catch (error) {
      if (error instanceof Outdated) {
        location.reload();
        return;
      }
      setBusy(false);
      announce(messages.notLoaded);
    }
  };

  return <LoadAgain busy={busy} onClick={() => void onClick()} />;
}

function LoadAgain({ busy, onClick }: { busy: boolean; onClick: () => void }) {
  return (
    <p>
      <Button variant="primary" busy={busy} onClick={onClick}>
        {messages.reload}
      </Button>
    </p>
  );
}
