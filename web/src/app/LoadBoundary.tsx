import { Component, useEffect, useState, type ReactNode } from 'react';
import { loadAnew, Outdated } from '../api';
import { Button } from '../components/Button';
import { Page } from '../components/Page';
import { announce } from '../lib/announce';
import { NotLoaded } from './lazyPage';
import { messages } from './messages';

interface State {
  failure: { error: unknown } | null;
}

/** A page whose code did not load is tried again until it does; one that broke can be loaded anew. */
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

/** Milliseconds until the first try that nobody asked for; twice as long until each later one. */
const PAUSE = 5_000;
/** Of PAUSE: the longest time between two such tries. */
const MOST_PAUSES = 12;

/** Tries by itself too: who comes back to the page finds it, or the newer document. */
function Retry({ failure, onLoaded }: { failure: NotLoaded; onLoaded: () => void }) {
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let left = false;
    const tryAgain = () => {
      failure.retry().then(
        () => {
          if (!left) onLoaded();
        },
        (error: unknown) => {
          if (!left && error instanceof Outdated) loadAnew();
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
      pauses = Math.min(2 * pauses, MOST_PAUSES);
      tryAgain();
    }, PAUSE);
    addEventListener('online', tryAgain);
    return () => {
      left = true;
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
      <Button look="sign" busy={busy} onClick={onClick}>
        {messages.reload}
      </Button>
    </p>
  );
}
