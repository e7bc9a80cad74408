import { Component, type ReactNode } from 'react';
import { Button } from '../components/Button';
import { Page } from '../components/Page';

/** A page whose code did not load, or that broke: it says so and offers the whole document again. */
export class LoadBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Page title="Not loaded" description="This page did not load.">
        <h1>This page did not load</h1>
        <p>The connection may be down, or a newer version may be out.</p>
        <p>
          <Button look="sign" onClick={() => location.reload()}>
            Load again
          </Button>
        </p>
      </Page>
    );
  }
}
